// With --read-only a person sees so on each page, and nothing can be installed.
export default async function readonly(s) {
  const page = await s.open()
  await page.locator('header').getByText('Read only').waitFor()
  await page.getByRole('link', { name: 'Object Keeper' }).click()
  await s.heading('Object Keeper')
  await s.refuses('Install', /read.only|to read only/i)
  await s.sound('operator')

  await s.go(`${new URL(page.url()).pathname}/install`)
  await s.see(/read.only|to read only/i)
  s.expect('the wizard', await page.getByRole('heading', { name: 'Version and namespace' }).count(), 0)
  await s.sound('install')
}
