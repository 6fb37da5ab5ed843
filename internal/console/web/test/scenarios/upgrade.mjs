// A person sees an upgrade that asks for more than the role has: it cannot be approved just like that.
export default async function upgrade(s, { namespace }) {
  const page = await s.open('/installed?needs=you')
  await s.heading('Installed')
  await page.getByRole('row').filter({ hasText: namespace }).first().waitFor()
  await s.sound('needs-you')
  await s.go(`/installed/${namespace}/object-keeper/upgrade`)
  await s.see('object-keeper.v1.1.0')
  await s.see('s3:PutObject')
  await s.sound('not-enough')
  const approve = page.getByRole('button', { name: 'Approve', exact: true })
  s.expect('Approve is off', await approve.getAttribute('aria-disabled'), 'true')
}
