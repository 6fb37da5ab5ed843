// A person gives what is no role, then a role that lacks something, and takes the risk by typing the
// operator's name and why.
export default async function risk(s, { arn, namespace, reason, flag }) {
  const page = await s.open('/operators/CatalogSource%3Aolm%2Fvendor%3Aobject-keeper/install')
  await page.getByLabel(/^Namespace/).fill(namespace)
  await page.getByRole('button', { name: 'Next' }).click()

  await page.getByRole('button', { name: 'Next' }).click()
  await s.see('Say which role the operator takes')
  await s.sound('nothing-chosen')
  await page.getByLabel('I have a role').check()
  await page.getByRole('textbox', { name: /^ARN|^Role ARN/ }).fill('arn:aws:sts::123456789012:assumed-role/p/session')
  await page.getByRole('button', { name: 'Next' }).click()
  await s.see('session of a role')
  await s.sound('no-role')
  await page.getByRole('button', { name: 'Back to the role' }).click()

  await page.getByRole('textbox', { name: /^ARN|^Role ARN/ }).fill(arn)
  await page.getByRole('button', { name: 'Next' }).click()
  await s.see('s3:PutObject')
  await s.sound('not-enough')
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('button', { name: 'Take the risk', exact: true }).click()
  const dialog = page.getByRole('dialog')
  const name = dialog.getByRole('textbox', { name: /^Type object-keeper/ })
  const why = dialog.getByRole('textbox', { name: /^Why do you take the risk/ })
  const take = dialog.getByRole('button', { name: 'Take the risk', exact: true })
  await take.click()
  await refused('This is not object-keeper', name)
  await refused('The reason is empty', why)
  await s.sound('dialog')
  await name.fill('object-keeper')
  for (const [text, said] of [['turned \u202egpj', 'U+202E'], ['a'.repeat(501), '501 characters']]) {
    await why.fill(text)
    await take.click()
    await refused(said, why)
  }
  await why.fill(reason)
  await take.click()
  await s.see(`Your reason: ${reason}`)
  await s.sound('taken')
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('heading', { name: 'Review', exact: true }).waitFor()
  await s.see('--accept missing=sha256:')
  await s.see(flag)
  await page.getByRole('button', { name: 'Install', exact: true }).click()
  await page.waitForURL(new RegExp(`/installed/${namespace}/object-keeper`))
  await page.getByText(/has its credentials in the Secret/).first().waitFor({ timeout: 60_000 })

  // refused waits for the error that a field is described by. The first wrong field has the focus.
  async function refused(text, field) {
    await dialog.getByText(text).waitFor()
    const said = await field.evaluate((e) => e.getAttribute('aria-describedby').split(' ').map((id) => document.getElementById(id)?.textContent).join(' '))
    if (!said.includes(text)) s.fault(`the field is described by ${JSON.stringify(said)}, want ${text}`)
    const focus = await dialog.locator('[aria-invalid="true"]').first().evaluate((e) => e === document.activeElement)
    s.expect(`the field of ${text} has the focus`, focus, true)
  }
}
