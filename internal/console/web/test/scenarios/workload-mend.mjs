// A person mends a pod by what its page says: the commands are copied by keyboard alone, and typed.
export default async function mend(s, { namespace, arn, terminal }) {
  const page = await s.open(`/workloads/pods/${namespace}/checkout-6d9c`)
  await s.heading(/checkout-6d9c/)
  const broken = (name) => page.getByRole('heading', { level: 2, name: `First broken link: ${name}` }).waitFor()
  const chain = page.getByRole('list', { name: 'Links of the chain' })
  await broken('L3 binding')
  s.expect('links', await chain.getByRole('listitem').count(), 13)
  s.expect('the link that is marked', await chain.locator('[aria-current=step]').textContent(), 'L3 bindingBrokenFirst broken link')
  for (const text of ['Observed', 'Required', 'arn:aws:iam::ACCOUNT:role/NAME', 'Proved', 'L3-ROLE-ARN']) await s.see(text, { exact: true })
  await s.see('Words in upper case are to be filled in: ROLE_ARN.')
  const behind = await chain.getByRole('listitem').filter({ hasText: /^L(4|5|6|7|8|9|1[0-2]) / }).allTextContents()
  if (behind.length !== 9 || behind.some((text) => text.includes('Sound'))) s.fault(`behind the broken link the chain says ${JSON.stringify(behind)}`)
  await s.sound('binding')
  await page.setViewportSize({ width: 320, height: 2400 })
  await s.picture('binding-320-long')
  await page.setViewportSize({ width: 1280, height: 2400 })
  await s.picture('binding-long')
  await page.setViewportSize({ width: 1280, height: 800 })

  // In the cluster: the page turns by itself.
  const annotate = await s.copied(/^Copy the command kubectl .*annotate serviceaccount/)
  await s.types(terminal, annotate.replace('ROLE_ARN', arn))
  await broken('L9 trust')
  s.expect('the link that is marked', await chain.locator('[aria-current=step]').textContent(), 'L9 trustBrokenFirst broken link')
  await s.see('L9-SUB-MISMATCH', { exact: true })
  await s.sound('trust')

  // In AWS, of which no event comes: the person looks again.
  await page.getByRole('heading', { level: 1 }).focus()
  await s.types(terminal, await s.copied(/^Copy the command aws iam update-assume-role-policy/))
  await page.getByRole('heading', { level: 1 }).focus()
  await s.tabTo('Look again')
  await page.keyboard.press('Enter')
  await s.see('Nothing wrong', { exact: true })
  s.expect('nothing is marked', await chain.locator('[aria-current=step]').count(), 0)
  await s.sound('sound')

  // A call that the role may not make.
  await s.tabTo(/^Action/)
  await page.keyboard.type('s3:PutObject')
  await s.tabTo(/^Resource/)
  await page.keyboard.type('arn:aws:s3:::orders/today.csv')
  await page.keyboard.press('Enter')
  await page.waitForURL(/action=s3%3APutObject&resource=arn/)
  await broken('L11 permission')
  await s.see('Likely, not proved')
  await s.sound('call')
}
