// Without a cluster, a person reads a catalogue in a file and compares two versions.
export default async function file(s) {
  const page = await s.open()
  await page.getByRole('heading', { name: 'There is no cluster' }).waitFor()
  await page.getByRole('link', { name: 'Object Keeper' }).waitFor()
  s.expect('rows', await page.locator('main table.tabard-table tbody tr').count(), 3)
  await s.sound('list')

  await page.getByRole('link', { name: 'Object Keeper' }).click()
  await s.heading('Object Keeper')
  await s.refuses('Install', /no cluster|kubeconfig/)
  await s.sound('operator')

  await page.getByRole('tab', { name: 'Versions' }).click()
  await page.getByLabel('From', { exact: true }).selectOption('object-keeper.v1.0.0')
  await page.getByLabel('To', { exact: true }).selectOption('object-keeper.v1.1.0')
  await page.locator('caption', { hasText: 'From object-keeper.v1.0.0 to object-keeper.v1.1.0' }).waitFor()
  s.expect('what 1.1.0 adds', await page.getByRole('rowheader', { name: /^Added/ }).count(), 2)
  await s.sound('compare')

  await s.go('/installed')
  await page.getByRole('heading', { name: 'There is no cluster' }).waitFor()
  await s.sound('installed')
  await s.go('/overview')
  await page.getByRole('heading', { name: 'There is no cluster' }).waitFor()
  await s.sound('overview')
}
