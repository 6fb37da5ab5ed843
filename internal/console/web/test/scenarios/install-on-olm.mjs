// A person installs an operator with its role through the wizard. A real Operator Lifecycle Manager
// installs it, and the page shows all stages as they pass.
export default async function installOnOLM(s, { operator, arn, namespace }) {
  const page = await s.open()
  await page.getByRole('link', { name: operator, exact: true }).click()
  await s.heading(operator)
  await page.getByRole('link', { name: 'Install', exact: true }).or(page.getByRole('button', { name: 'Install', exact: true })).first().click()

  await page.getByRole('heading', { name: 'Version and namespace' }).waitFor()
  await page.getByLabel(/^Namespace/).fill(namespace)
  const next = () => page.getByRole('button', { name: 'Next', exact: true }).click()
  await next()
  await page.getByRole('heading', { name: 'Role', exact: true }).waitFor()
  await page.getByRole('radio', { name: /^I have a role/ }).check()
  await page.getByLabel(/^Paste what you were sent/).fill(arn)
  await s.see('Filled in below')
  await next()
  await page.getByRole('heading', { name: 'Check', exact: true }).waitFor()
  await s.see('s3:ListAllMyBuckets')
  await next()
  await page.getByRole('heading', { name: 'Review', exact: true }).waitFor()
  await s.see('kind: Subscription')
  await page.getByRole('button', { name: 'Install', exact: true }).click()

  await page.waitForURL(new RegExp(`/installed/${namespace}/`))
  await page.getByText(/the operator has its credentials in the Secret/i).first().waitFor({ timeout: 240_000 })
  await s.sound('installed')
}
