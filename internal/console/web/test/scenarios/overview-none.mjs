// A person who may read nothing learns which rights are missing. Nothing that is not known is called well, or
// counted.
export default async function none(s) {
  const page = await s.open('/overview')
  await page.getByRole('heading', { level: 3, name: /Which pods lack their identity is not known/ }).waitFor()
  await page.getByRole('heading', { level: 3, name: /Which requests wait is not known/ }).waitFor()
  await s.see(/cannot list resource "pods"/)
  await s.see(/cannot list resource "credentialsrequests"/)
  await page.getByRole('listitem').getByText(/^It needs: /).first().waitFor()
  const states = await page.locator('.tabard-chain .tabard-link-state').allTextContents()
  // Everybody may read who signs the tokens.
  s.expect('states', states, ['Sound', 'Not seen', 'Not seen', 'Not seen', 'Not seen'])
  const text = await page.locator('main').textContent()
  if (/All is well|Of 0|no pods|no CredentialsRequests|undefined|NaN/.test(text)) s.fault(`the page says ${text}`)
  await s.sound('page')
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 3200 })
    await s.picture(`page-long-${width}`)
  }
}
