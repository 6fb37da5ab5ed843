// The role of a plan is not enough. A person takes the risk, sees what will be noted on the plan, and approves it.
export default async function upgradeRisk(s, { namespace, reason, flag }) {
  const page = await s.open(`/installed/${namespace}/object-keeper/upgrade`)
  await s.see('s3:GetObject')
  await page.getByRole('button', { name: 'Take the risk', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('operators.tabard.dev/permission-check: Overridden sha256:').waitFor()
  await s.sound('dialog')
  await dialog.getByRole('textbox', { name: /^Type object-keeper/ }).fill('object-keeper')
  await dialog.getByRole('textbox', { name: /^Why do you take the risk/ }).fill(reason)
  await page.keyboard.press('Enter')
  await s.see(`Your reason: ${reason}`)
  await s.see(flag)
  await s.sound('taken')
  await page.getByRole('button', { name: 'Approve', exact: true }).click()
  await page.waitForURL(new RegExp(`/installed/${namespace}/object-keeper$`))
}
