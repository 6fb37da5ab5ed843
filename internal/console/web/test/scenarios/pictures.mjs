// The pictures of docs/console.md: a person installs an operator.
import path from 'node:path'

export default async function pictures(s, { arn, namespace, folder }) {
  const page = await s.open('/operators', { height: 720 })
  const take = (name) => page.screenshot({ path: path.join(folder, `console-${name}.png`) })
  await page.getByRole('columnheader', { name: 'Permissions' }).waitFor()
  await take('operators')
  await page.getByRole('link', { name: 'Object Keeper' }).click()
  await page.getByRole('tab', { name: 'Permissions' }).click()
  await s.see('s3:PutObject')
  await take('permissions')
  await page.getByRole('link', { name: 'Install', exact: true }).or(page.getByRole('button', { name: 'Install', exact: true })).first().click()
  await page.getByLabel(/^Namespace/).fill(namespace)
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByLabel('I have a role').check()
  await page.getByRole('textbox', { name: /^ARN|^Role ARN/ }).fill(arn)
  await page.getByRole('button', { name: 'Next' }).click()
  await s.see('s3:PutObject')
  await take('check')
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('button', { name: 'Install', exact: true }).click()
  await page.waitForURL(new RegExp(`/installed/${namespace}/object-keeper`))
  await page.getByText(/has its credentials in the Secret/).first().waitFor({ timeout: 60_000 })
  await page.getByRole('heading', { name: 'Stages' }).scrollIntoViewIfNeeded()
  await take('installed')
}
