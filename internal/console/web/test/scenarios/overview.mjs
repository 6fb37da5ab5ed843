// A person does the one thing that the overview says, and the next, until all is well. The page turns by
// itself each time.
export default async function overview(s, { namespace, arn, terminal }) {
  const page = await s.open('/overview')
  const links = page.getByRole('list', { name: 'Links of the chain' })
  const pods = page.getByRole('region', { name: 'Pods without their identity' })
  const requests = page.getByRole('region', { name: 'Requests that wait' })
  const states = async () => (await links.locator('.tabard-link-state').allTextContents()).join(', ')
  const todo = page.getByRole('region', { name: 'What to do next' })

  await s.see('The first broken link is L3 binding.')
  s.expect('links', await states(), 'Sound, Sound, Sound, Broken, Not reached')
  const marked = links.locator('[aria-current=step]')
  s.expect('the link that is marked', (await marked.allTextContents()).map((text) => text.slice(0, 10)), ['L3 binding'])
  await marked.getByRole('link', { name: `ServiceAccount ${namespace}/checkout` }).waitFor()
  await links.getByText(/^Seen so since \d\d:\d\d/).first().waitFor()
  for (const text of ['Observed', 'Required', 'Words in upper case are to be filled in: ROLE_ARN, WORKLOAD.']) await todo.getByText(text, { exact: true }).waitFor()
  await pods.getByRole('link', { name: 'lacks' }).waitFor()
  await requests.getByRole('rowheader', { name: 'reports' }).waitFor()
  await s.sound('binding')
  await long('binding')

  // The pod that was started without its role still lacks it when its ServiceAccount names one.
  const annotate = await s.copied(/^Copy the command kubectl .*annotate serviceaccount/)
  await s.types(terminal, annotate.replace('ROLE_ARN', arn))
  await s.see('One pod lacks its identity.')
  s.expect('links', await states(), 'Sound, Sound, Sound, Sound, Not reached')
  s.expect('pods', await pods.getByRole('rowheader').allTextContents(), ['lacksPending'])
  await s.sound('pod')
  await page.getByRole('heading', { level: 1 }).focus()
  await s.types(terminal, `${await s.copied(/^Copy the command kubectl .*delete pod lacks/)} --now`)

  await s.see('One CredentialsRequest waits.')
  await todo.getByText(/^CredentialsRequest .* waits\.$/).waitFor()
  await s.sound('waits')
  await long('waits')
  await page.getByRole('heading', { level: 1 }).focus()
  await s.copied(new RegExp(`^Copy the command tabard credentials describe reports --namespace ${namespace}`))

  await s.types(terminal, `kubectl -n ${namespace} delete credentialsrequest reports`)
  await s.see('All is well, as far as was looked.')
  s.expect('links', await states(), 'Sound, Sound, Sound, Sound, Not reached')
  s.expect('things to do', await todo.count(), 0)
  await s.see('There are no CredentialsRequests.')
  await s.sound('well')

  await links.getByRole('link').first().click()
  await page.waitForURL(/\/workloads\//)

  async function long(name) {
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 2400 })
      await s.picture(`${name}-long-${width}`)
      const bottoms = await todo.evaluate((card) => [card, ...card.querySelectorAll('a')].map((e) => e.getBoundingClientRect().bottom))
      if (Math.max(...bottoms) > bottoms[0]) s.fault(`at ${width} px, what is in the card ends below it: ${bottoms}`)
    }
    await page.setViewportSize({ width: 1280, height: 800 })
  }
}
