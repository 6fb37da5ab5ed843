// A person looks at a ServiceAccount, asks about a call in a wrong way, and sees it go.
export default async function account(s, { namespace, terminal }) {
  const page = await s.open(`/workloads/serviceaccounts/${namespace}/checkout`)
  await s.heading(/checkout/)
  await page.getByRole('heading', { level: 2, name: 'Pods that run as it' }).waitFor()
  await page.getByRole('link', { name: 'lacks' }).waitFor()
  await s.sound('page')

  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.getByRole('heading', { name: 'Mend 1 thing to go on' }).waitFor()
  await page.getByLabel(/^Action/).fill('GetObject')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.waitForURL(/action=GetObject/)
  await s.see(/expected SERVICE:ACTION/)
  // It stands at the field, and what is explained without the call stays.
  const action = page.getByLabel(/^Action/)
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'What is wrong')
  s.expect('the field is marked', await action.getAttribute('aria-invalid'), 'true')
  const said = await action.evaluate((e) => e.getAttribute('aria-describedby').split(' ').map((id) => document.getElementById(id)?.textContent).join(' '))
  if (!/"GetObject" is no action, expected SERVICE:ACTION/.test(said)) s.fault(`the field is described by ${JSON.stringify(said)}`)
  await page.getByRole('heading', { level: 2, name: 'Pods that run as it' }).waitFor()
  await s.sound('no-action')
  await page.reload()
  await page.getByRole('heading', { level: 2, name: 'Pods that run as it' }).waitFor()
  await s.see(/expected SERVICE:ACTION/)
  await action.fill('')
  await s.see('Action is empty')
  s.expect('errors of an action that was changed', await page.getByText(/expected SERVICE:ACTION/).count(), 0)
  await page.getByLabel(/^Action/).fill('s3:GetObject s3:PutObject')
  await page.getByLabel(/^Resource/).fill('arn:aws:s3:::orders/*')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.waitForURL(/action=s3%3AGetObject&action=s3%3APutObject&resource=/)
  await s.see('--action s3:GetObject --action s3:PutObject')
  await page.getByRole('button', { name: 'Clear the call' }).click()
  await page.waitForURL((url) => url.search === '')

  // The pod of the list, which ends while its page is open.
  await page.getByRole('link', { name: 'lacks' }).click()
  await s.heading(/lacks/)
  await page.getByRole('heading', { level: 2, name: /^First broken link/ }).waitFor()
  await s.sound('pod')

  // A pod that changes again and again is explained once in a while, and its last change is shown.
  const reads = []
  page.on('request', (request) => new URL(request.url()).pathname.endsWith(`/workloads/pods/${namespace}/lacks`) && reads.push(Date.now()))
  for (let change = 0; change < 4; change++) {
    await s.types(terminal, `kubectl -n ${namespace} annotate pod lacks change=${change} --overwrite`)
    await new Promise((resolve) => setTimeout(resolve, 2_500))
  }
  await s.types(terminal, `kubectl -n ${namespace} annotate serviceaccount checkout eks.amazonaws.com/role-arn=arn:aws:iam::123456789012:role/other --overwrite`)
  await s.see('Role: arn:aws:iam::123456789012:role/other')
  if (reads.some((at, n) => n > 0 && at - reads[n - 1] < 8_000)) s.fault(`explanations were asked for at ${JSON.stringify(reads)}`)
  await s.types(terminal, `kubectl -n ${namespace} delete pod lacks --now`)
  await page.getByRole('link', { name: 'All workloads' }).waitFor()
  await s.sound('gone')
}
