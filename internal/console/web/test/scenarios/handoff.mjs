// A person makes the files for the owner of the account, takes them as one file, and checks the role that
// comes back.
export default async function handoff(s, { arn, namespace, account }) {
  const page = await s.open('/operators/CatalogSource%3Aolm%2Fvendor%3Aobject-keeper/handoff')
  await s.heading(/Hand-off/)
  await s.sound('form')
  await page.getByLabel(/^AWS account/).fill(account)
  await page.getByLabel(/^Namespace/).fill(namespace)
  await page.getByRole('button', { name: 'Make the files' }).first().click()
  await s.see('aws.sh')
  await s.see('README.md')
  await s.sound('files')
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: /Download all/ }).click()])
  s.expect('the name of the archive', download.suggestedFilename().endsWith('.zip'), true)
  await page.getByRole('textbox', { name: /ARN/ }).last().fill(arn)
  await page.getByRole('button', { name: /Check/ }).click()
  await s.see('The role is enough')
  await s.sound('checked')
}
