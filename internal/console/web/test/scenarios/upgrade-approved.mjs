// The role has what the upgrade asks for now: it is approved, and followed to its end.
export default async function upgradeApproved(s, { namespace }) {
  const page = await s.open(`/installed/${namespace}/object-keeper/upgrade`)
  await s.see('object-keeper.v1.1.0')
  const approve = page.getByRole('button', { name: 'Approve', exact: true })
  await approve.waitFor()
  await s.sound('enough')
  await approve.click()
  await page.waitForURL(new RegExp(`/installed/${namespace}/object-keeper$`))
  await page.getByText('object-keeper.v1.1.0').first().waitFor({ timeout: 60_000 })
}
