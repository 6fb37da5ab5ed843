// A person installs an operator that watches one other namespace. A mode that the version does not
// support cannot be chosen, also not by choosing the version after it.
export default async function modes(s, { namespace, watched }) {
  const page = await s.open('/operators/CatalogSource%3Aolm%2Fvendor%3Aquiet/install')
  const next = page.getByRole('button', { name: 'Next' })
  const everywhere = page.getByLabel('All namespaces')
  const refused = async (link, field) => {
    await next.click()
    await page.locator('[aria-label="What is wrong"]:focus').waitFor()
    await page.getByRole('link', { name: link }).waitFor()
    await s.sound(field)
    await page.getByRole('link', { name: link }).click()
    await page.locator(`#${field}:focus`).waitFor()
  }
  await page.getByLabel(/^Namespace/).fill(namespace)
  s.expect('at first the mode is the usual one', await page.getByLabel('As the operator supports it').isChecked(), true)
  s.expect('an unsupported mode may be chosen', await everywhere.isEnabled(), false)
  const why = await everywhere.evaluate((e) => document.getElementById(e.getAttribute('aria-describedby')).textContent)
  s.expect('it says why', why, 'It watches the whole cluster. This version does not support it.')

  await page.getByLabel('Version', { exact: true }).selectOption({ label: '1.0.0' })
  await everywhere.check()
  await page.getByLabel('Version', { exact: true }).selectOption({ label: '1.1.0' })
  await page.locator('#mode-all:disabled').waitFor()
  await refused(/does not support the install mode/, 'mode-usual')

  await page.getByLabel('One other namespace').check()
  await refused('Watched namespace is empty', 'watched')
  await page.keyboard.insertText(watched)
  await s.sound('modes')
  await next.click()

  await page.getByLabel('Without a role').check()
  await next.click()
  await page.getByRole('heading', { name: 'Check', exact: true }).waitFor()
  await s.see('It takes no role')
  await next.click()
  await page.getByRole('heading', { name: 'Review', exact: true }).waitFor()
  await s.see(`Watches ${watched}`)
  await s.see(`--install-mode single=${watched}`)
  await page.getByRole('button', { name: 'Install', exact: true }).click()
  await page.waitForURL(new RegExp(`/installed/${namespace}/quiet`))
}
