// A person opens the console, sees the operators of the cluster, filters them, and comes back by an
// address.
export default async function list(s) {
  const page = await s.open()
  await s.see('the cluster is in token mode on AWS')
  await page.getByRole('columnheader', { name: 'Permissions' }).waitFor()
  const rows = () => page.locator('main table tbody tr').count()
  s.expect('rows', await rows(), 3)
  await s.sound('all')

  await page.getByRole('textbox', { name: 'Search operators' }).fill('mirror')
  await page.waitForFunction(() => document.querySelectorAll('main table tbody tr').length === 1)
  const filtered = page.url()
  if (!filtered.includes('search=mirror')) s.fault(`the filter is not in the address ${filtered}`)
  await page.reload()
  await s.heading('Operators')
  await page.waitForFunction(() => document.querySelectorAll('main table tbody tr').length === 1)

  await page.getByRole('textbox', { name: 'Search operators' }).fill('nothing has this name')
  await s.see('Clear all filters')
  await s.sound('no-match')
}
