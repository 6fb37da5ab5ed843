// Each page while it is read, when it could not be read, and when what it shows has become old.
const api = '**/api/v1/**'
const operator = 'CatalogSource%3Aolm%2Fvendor%3Aobject-keeper'

export default async function states(s, { shop, installed }) {
  const page = await s.open()
  await page.clock.install()
  for (const [name, where, isFollowed] of [
    ['overview', '/overview', true],
    ['operators', '/operators', true],
    ['operator', `/operators/${operator}`],
    ['handoff', `/operators/${operator}/handoff`],
    ['wizard', `/operators/${operator}/install`],
    ['installed', '/installed', true],
    ['install', `/installed/${installed}/object-keeper`, true],
    ['upgrade', `/installed/${installed}/object-keeper/upgrade`],
    ['pods', '/workloads', true],
    ['accounts', '/workloads?tab=serviceaccounts', true],
    ['pod', `/workloads/pods/${shop}/lacks`, true],
    ['account', `/workloads/serviceaccounts/${shop}/checkout`, true],
  ]) {
    await reads(s, name, where)
    await fails(s, name, where, isFollowed)
    if (isFollowed) await ages(s, name)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  }
}

// answers has each question of the pages but those about the session answered by a function.
async function answers(s, answer) {
  await s.page.route(api, (route) => (route.request().url().endsWith('/api/v1/session') ? route.fallback() : answer(route)))
}

// While nothing answers, a page has the place of what will be there, and says what takes so long.
async function reads(s, name, where) {
  await answers(s, () => {})
  await s.go(where)
  await s.page.locator('main h1').waitFor()
  await s.page.locator('main [role=status]', { hasText: /^Waiting for / }).first().waitFor({ state: 'attached' })
  await s.page.clock.fastForward(5_000)
  await s.page.locator('main [role=status]', { hasText: /^Still waiting for / }).first().waitFor()
  await s.sound(`${name}-loading`)
  await s.page.unrouteAll({ behavior: 'ignoreErrors' })
}

// A fault of the console is named with its request, and the page is there as soon as it is read again.
async function fails(s, name, where, isFollowed) {
  const fault = { type: 'about:blank', title: 'The console has a fault', status: 500, detail: 'its log says what and where', code: 'fault', instance: 'r-4711' }
  await answers(s, (route) => route.fulfill({ status: 500, contentType: 'application/problem+json', json: fault }))
  await s.go(where)
  await s.see('The console has a fault')
  await s.see('Request r-4711')
  await s.sound(`${name}-error`)
  await s.page.unrouteAll({ behavior: 'ignoreErrors' })
  const retry = s.page.locator('main').getByRole('button', { name: 'Retry' }).first()
  await retry.click({ timeout: 20_000 }).catch(async (error) => {
    // A page that follows the cluster may have been read again by itself before the button was pressed.
    if (!isFollowed || (await retry.isVisible())) throw error
  })
  await s.page.waitForFunction(() => {
    const main = document.querySelector('main')
    return !main.textContent.includes('The console has a fault') && !main.querySelector('.pf-v6-c-skeleton')
  })
}

// Where nothing answers any more, a page keeps what it shows, and says how old that is.
async function ages(s, name) {
  await answers(s, (route) => route.abort())
  await s.page.clock.fastForward(6 * 60_000)
  await s.see(/This was read \d+ minutes ago|This is what was read before/)
  await s.sound(`${name}-stale`)
  await s.page.clock.setSystemTime(Date.now())
}
