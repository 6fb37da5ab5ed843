// A person finds the pods that lack their role, narrows the list, sends the address on, and sees the list
// change while they look at it.
export default async function workloads(s, { namespace, terminal }) {
  const page = await s.open('/workloads')
  await s.heading('Workloads')
  const toolbar = page.locator('.pf-v6-c-toolbar').last()
  const chips = () => toolbar.locator('.pf-v6-c-label__text').allTextContents()
  const names = (of = page) => of.locator('main table.tabard-table tbody th[data-label=Name] a').allTextContents()
  const rows = (wanted, of = page) => of.waitForFunction((n) => document.querySelectorAll('main table.tabard-table tbody th[data-label=Name]').length === n, wanted)
  const choose = async (filter, value) => {
    await toolbar.getByRole('button', { name: new RegExp(`^${filter}`) }).first().click()
    await page.getByRole('option', { name: value }).click()
  }
  await choose('Namespace', new RegExp(`^${namespace}`))
  await page.waitForURL(new RegExp(`namespace=${namespace}`))
  await rows(4)
  s.expect('the worst is the first', await names(), ['lacks', 'by-file', 'has', 'takes-none'])
  for (const word of ['Without its role', 'Not known', 'Has its role', 'No role asked for']) await s.see(word, { exact: true })
  await s.sound('pods')

  await choose('State', /^Without its role/)
  await page.waitForURL(/standing=without/)
  await rows(1)
  s.expect('chips', await chips(), ['Without its role', namespace].sort((a, b) => (a === namespace ? -1 : 1)))
  const other = await s.another(page.url())
  await rows(1, other)
  s.expect('rows of the deep link', await names(other), ['lacks'])
  await other.close()

  // The namespace is that of both lists. How a ServiceAccount stands is not how its pods do.
  await page.getByRole('tab', { name: 'ServiceAccounts' }).click()
  await page.waitForURL(/tab=serviceaccounts/)
  await page.getByRole('textbox', { name: 'Search ServiceAccounts' }).waitFor()
  await rows(2)
  s.expect('chips of the ServiceAccounts', await chips(), [namespace])
  await s.see('2, 1 without')
  await s.sound('accounts')
  await page.goBack()
  await page.waitForURL((url) => !url.search.includes('tab='))
  await rows(1)

  await page.getByRole('textbox', { name: 'Search Pods' }).fill('nothing has this name')
  await s.see('No pod matches')
  await s.sound('no-match')
  await page.getByRole('button', { name: 'Drop the search' }).click()
  await page.getByRole('button', { name: /Close Without/ }).click()
  await rows(4)
  await page.getByRole('button', { name: 'Name', exact: true }).click()
  await page.waitForURL(/sort=name/)
  await page.waitForFunction(() => document.querySelector('main table.tabard-table tbody th[data-label=Name] a')?.textContent === 'by-file')

  // The list turns by itself.
  await s.types(terminal, `kubectl -n ${namespace} delete pod by-file --now`)
  await rows(3)
  s.expect('rows without the pod that is gone', await names(), ['has', 'lacks', 'takes-none'])
}
