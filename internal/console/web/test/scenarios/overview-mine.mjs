// A person who may read one namespace sees what is to be done there, and that there may be more elsewhere.
export default async function mine(s, { namespace }) {
  const page = await s.open('/overview')
  await s.see(/Not everything could be seen/)
  await s.see(/^Of \d+ pods that could be read, 12 lack their identity/)
  s.expect('rows', await page.locator('main table.tabard-table tbody tr').count(), 10)
  await page.getByRole('button', { name: /^Faults/ }).click()
  await s.see(new RegExp(`which pods are in others than ${namespace}`))
  await s.sound('page')
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 3200 })
    await s.picture(`page-long-${width}`)
  }
  await page.getByRole('link', { name: 'And 2 more' }).click()
  await s.heading('Workloads')
  await page.getByRole('link', { name: 'lacks', exact: true }).waitFor()
}
