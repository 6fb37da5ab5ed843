import { createServer } from 'node:http'

// A page of another server on this machine, in the browser of an open session, reaches nothing. The
// browser sends that server the session's cookie, which alone opens nothing either.
export default async function foreign(s) {
  const page = await s.open()
  await page.getByRole('link', { name: 'Object Keeper' }).waitFor()
  const got = []
  const server = createServer((request, response) => {
    got.push(request.headers.cookie ?? '')
    response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>elsewhere</title><p>elsewhere')
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const answers = []
  const note = (response) => {
    // Meanwhile the console's own page asks nothing that is posted or framed.
    if (response.url().startsWith(s.origin)) answers.push([response.request().method(), new URL(response.url()).pathname, response.status()])
  }
  page.context().on('response', note)
  const stranger = await page.context().newPage()
  await stranger.goto(`http://127.0.0.1:${server.address().port}/`)

  const read = await stranger.evaluate(fetches, s.origin)
  s.expect('what a foreign page could fetch', read, {})
  const [form] = await Promise.all([
    page.context().waitForEvent('response', (response) => response.url() === `${s.origin}/api/v1/installs` && response.request().isNavigationRequest()),
    stranger.evaluate(posts, s.origin),
  ])
  s.expect('the answer to a form', form.status(), 403)
  for (const [method, path, status] of answers) {
    if (path.startsWith('/api/') && status < 400) s.fault(`a foreign page was answered with ${status}: ${method} ${path}`)
  }
  if (!answers.some(([method]) => method === 'POST')) s.fault('no POST of the foreign page came to the console')

  // The window that it opens is the console's own page, which is answered.
  page.context().off('response', note)
  const opened = await stranger.evaluate(opens, s.origin)
  s.expect('what a foreign page could see', opened, { img: 'error', icon: 'error', frame: 'nothing', window: 'nothing' })
  const framed = stranger.frames().filter((frame) => frame !== stranger.mainFrame() && frame.url().startsWith(s.origin))
  s.expect('frames of the console', framed.length, 0)

  const cookie = got.find((text) => text.includes('tabard-'))
  if (cookie) {
    const answer = await fetch(`${s.origin}/api/v1/session`, { headers: { cookie } })
    s.expect('the answer to the cookie alone', answer.status, 403)
  }
  console.log(cookie ? 'the other server got the cookie' : 'the other server got no cookie', JSON.stringify(answers))

  await page.bringToFront()
  await page.reload()
  await page.getByRole('link', { name: 'Object Keeper' }).click()
  await s.heading('Object Keeper')
  await stranger.close()
  server.close()
}

// fetches tries to read and to write, and returns what it got.
async function fetches(origin) {
  const out = {}
  const json = { method: 'POST', body: '{"operator":"x"}', headers: { 'Content-Type': 'application/json', 'X-Tabard-CSRF': 'x' } }
  const tries = {
    read: ['session', {}], post: ['installs', json], simple: ['installs', { method: 'POST', body: '{"operator":"x"}' }],
    opaque: ['installs', { method: 'POST', body: '{}', mode: 'no-cors' }], begin: ['session', { method: 'POST', body: '{"code":"x"}', mode: 'no-cors' }],
  }
  for (const [name, [path, options]] of Object.entries(tries)) {
    try {
      const response = await fetch(`${origin}/api/v1/${path}`, { credentials: 'include', ...options })
      const text = await response.text()
      if (text !== '' || response.ok) out[name] = text
    } catch { /* the browser refuses, as it has to */ }
  }
  return out
}

// opens tries to show the console, and to look into it.
async function opens(origin) {
  const picture = (path) => new Promise((resolve) => {
    const img = new Image()
    img.onload = () => resolve('loaded')
    img.onerror = () => resolve('error')
    img.src = origin + path
  })
  const look = (of) => {
    try {
      return of.document?.body?.textContent || of.location.href ? 'something' : 'nothing'
    } catch {
      return 'nothing'
    }
  }
  const out = { img: await picture('/api/v1/session'), icon: await picture('/') }
  const frame = document.createElement('iframe')
  const loaded = new Promise((resolve) => { frame.onload = resolve })
  frame.src = origin + '/operators'
  document.body.append(frame)
  await loaded
  out.frame = look(frame.contentWindow)
  const other = window.open(origin + '/operators')
  // It leaves this page's reach when it has the console's first header.
  while (other && !other.closed && look(other) === 'something') await new Promise((resolve) => setTimeout(resolve, 100))
  out.window = other && !other.closed ? look(other) : 'nothing'
  return out
}

// posts sends a form, as no script is needed to.
function posts(origin) {
  const form = Object.assign(document.createElement('form'), { method: 'POST', action: `${origin}/api/v1/installs`, target: '_blank', enctype: 'text/plain' })
  form.append(Object.assign(document.createElement('input'), { name: '{"operator":"x","a":"', value: '"}' }))
  document.body.append(form)
  form.submit()
}
