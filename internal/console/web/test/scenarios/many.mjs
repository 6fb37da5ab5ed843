// A person finds their way in a catalogue of thousands of packages.
export default async function many(s) {
  const page = await s.open()
  const first = () => page.locator('main table.tabard-table tbody tr th').first().textContent()
  const timed = async (what, act) => {
    const begun = Date.now()
    await act()
    console.log(`${what}: ${Date.now() - begun} ms`)
  }
  const range = async (text) => page.locator('main').locator('b:visible', { hasText: text }).first().waitFor()
  await timed('the list', async () => {
    await page.goto(`${s.origin}/operators?all=true`)
    await range(/^1 - 20/)
  })
  await s.see(/of 5,000 packages/)
  await s.sound('list')
  const before = await first()

  await timed('the next page', async () => {
    await page.getByRole('button', { name: 'Go to next page' }).first().click()
    await range(/^21 - 40/)
  })
  if (await first() === before) s.fault('the next page has the same rows')
  await timed('the last page', async () => {
    await page.goto(`${s.origin}/operators?all=true&page=250`)
    await range(/^4981 - 5000/)
  })
  s.expect('rows of the last page', await page.locator('main table.tabard-table tbody tr').count(), 20)
  s.expect('no page after it', await page.getByRole('button', { name: 'Go to next page' }).first().isDisabled(), true)
  await s.sound('last')

  await timed('the other order', async () => {
    await page.getByRole('button', { name: 'Name', exact: true }).click()
    await page.waitForURL(/sort=-name/)
    await range(/^1 - 20/)
  })
  if (await first() === before) s.fault('the other order has the same first row')
  const name = (await page.locator('main table.tabard-table tbody tr th .tabard-small').first().textContent()).split(',')[0]
  await timed('a search', async () => {
    await page.getByRole('textbox', { name: 'Search operators' }).fill(name)
    await page.waitForURL(/search=/)
    await page.waitForFunction(() => !/ of 5,000$/.test(document.querySelector('main .tabard-small p')?.textContent ?? '') && document.querySelectorAll('main table.tabard-table tbody tr').length < 20)
  })
  if (!(await first()).includes(name)) s.fault(`the search for ${name} finds ${await first()}`)
  await page.locator('.pf-v6-c-toolbar').last().getByRole('button', { name: /^Provider/ }).first().click()
  await page.getByRole('option').first().waitFor()
  await s.sound('filter')
}
