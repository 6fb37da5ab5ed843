// A person narrows the list, goes back, sends the address to a second window, and drops the filters.
export default async function filters(s) {
  const page = await s.open()
  const toolbar = page.locator('.pf-v6-c-toolbar').last()
  const chips = () => toolbar.locator('.pf-v6-c-label__text').allTextContents()
  const rows = (wanted, of = page) => of.waitForFunction((n) => document.querySelectorAll('main table.tabard-table tbody th[data-label=Name]').length === n, wanted)
  const choose = async (filter, value) => {
    await toolbar.getByRole('button', { name: new RegExp(`^${filter}`) }).first().click()
    await page.getByRole('option', { name: value }).click()
  }
  await rows(3)

  await toolbar.getByRole('button', { name: /^Cloud/ }).first().click()
  await page.getByRole('option', { name: /AWS \(this cluster\)/ }).waitFor()
  const first = await page.getByRole('option').first().textContent()
  if (!first.includes('this cluster')) s.fault(`the first cloud is ${first}, not that of the cluster`)
  await s.sound('menu')
  // On a narrow screen the menus are elsewhere: this one begins anew.
  await page.reload()
  await rows(3)
  await choose('Cloud', /AWS \(this cluster\)/)
  await page.waitForURL(/cloud=aws/)
  // The cloud alone leaves the operators that take its tokens.
  await rows(1)
  await choose('Token login', /^Supported/)
  await page.waitForURL(/tokens=yes/)
  await choose('Permissions', /sensitive/)
  await page.waitForURL(/permissions=sensitive/)
  await rows(1)
  s.expect('chips', await chips(), ['AWS (this cluster)', 'Supported', 'Some are sensitive'])
  await s.sound('chosen')

  await page.goBack()
  await page.waitForURL((url) => !url.search.includes('permissions'))
  await toolbar.getByText('Some are sensitive').waitFor({ state: 'detached' })
  s.expect('chips after going back', await chips(), ['AWS (this cluster)', 'Supported'])
  await page.goForward()
  await page.waitForURL(/permissions=sensitive/)
  await toolbar.getByText('Some are sensitive').waitFor()

  // Another window of the same browser has the same session, and the address has the whole list.
  const other = await s.another(page.url())
  await rows(1, other)
  s.expect('rows of the deep link', await other.getByRole('link', { name: 'Object Keeper' }).count(), 1)
  await other.close()

  await choose('Permissions', /Asks for nothing/)
  await s.see('No operator matches')
  await page.getByRole('button', { name: 'Drop Permissions' }).click()
  await rows(1)
  await toolbar.getByRole('button', { name: /Close AWS/ }).click()
  await page.waitForURL((url) => !url.search.includes('cloud='))
  s.expect('chips that are left', await chips(), ['Supported'])
  await page.getByRole('button', { name: 'Clear all filters' }).first().click()
  await rows(3)
  s.expect('the address without filters', new URL(page.url()).search, '')
  s.expect('chips after all', await chips(), [])

  // An address that is refused shows what it narrows the list by, and leads to the whole list.
  await s.go('/operators?search=keeper&sort=nothing')
  await s.see('Show the whole list')
  s.expect('chips of the address that is refused', await chips(), ['keeper'])
  await s.sound('refused')
  await page.getByRole('link', { name: 'Show the whole list' }).click()
  await rows(3)
}
