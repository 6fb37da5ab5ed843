// A person finds their way among thousands of pods.
export default async function manyWorkloads(s) {
  const page = await s.open('/workloads?namespace=crowd')
  const first = () => page.locator('main table.tabard-table tbody tr th').first().textContent()
  const range = async (text) => page.locator('main').locator('b:visible', { hasText: text }).first().waitFor()
  const timed = async (what, act) => {
    const begun = Date.now()
    await act()
    console.log(`${what}: ${Date.now() - begun} ms`)
  }
  await timed('the list', () => range(/^1 - 20/))
  await s.see('5,000 of 5,000 pods')
  await s.sound('list')
  const before = await first()
  await timed('the next page', async () => {
    await page.getByRole('button', { name: 'Go to next page' }).first().click()
    await range(/^21 - 40/)
  })
  if (await first() === before) s.fault('the next page has the same rows')
  await timed('the last page', async () => {
    await page.goto(`${s.origin}/workloads?namespace=crowd&page=250`)
    await range(/^4981 - 5000/)
  })
  s.expect('rows of the last page', await page.locator('main table.tabard-table tbody tr').count(), 20)
  s.expect('no page after it', await page.getByRole('button', { name: 'Go to next page' }).first().isDisabled(), true)

  await timed('a search', async () => {
    await page.getByRole('textbox', { name: 'Search Pods' }).fill('pod-4711')
    await s.see('1 of 5,000 pods')
  })
  s.expect('what the search finds', await page.locator('main table.tabard-table tbody tr th a').allTextContents(), ['pod-4711'])
  await timed('a filter', async () => {
    await page.goto(`${s.origin}/workloads?standing=without`)
    await s.see('500 of 5,000 pods')
  })
  // How a ServiceAccount stands is not how its pods do.
  await page.getByRole('tab', { name: 'ServiceAccounts' }).click()
  await s.see('500, 500 without')
  await page.getByRole('link', { name: 'checkout' }).click()
  await s.see(/^The first \d+ of 500 pods/)
}
