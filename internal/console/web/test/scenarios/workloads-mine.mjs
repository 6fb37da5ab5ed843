// A person who may read one namespace sees its pods, and that there may be others.
export default async function mine(s, { namespace }) {
  const page = await s.open('/workloads')
  await page.getByRole('link', { name: 'lacks' }).waitFor()
  s.expect('rows', await page.locator('main table.tabard-table tbody tr').count(), 4)
  await s.see('of what could be read')
  await s.see('4 of 4 pods of what could be read')
  await page.getByRole('button', { name: /^Faults/ }).click()
  await s.see(/You may not list the namespaces of the cluster/)
  await s.sound('list')

  // What the person may not see is said at its link.
  await page.getByRole('link', { name: 'has' }).click()
  await page.getByRole('heading', { level: 2, name: 'Link by link' }).waitFor()
  await page.getByRole('row').filter({ hasText: 'Not seen' }).first().getByText(/^It needs: /).waitFor()
  await s.sound('pod')
  await s.go(`/workloads/pods/default/elsewhere`)
  await s.see(/cannot get resource/)
  await s.sound('elsewhere')
  await s.go(`/workloads?namespace=${namespace}&tab=serviceaccounts`)
  await page.getByRole('link', { name: 'checkout' }).waitFor()
}
