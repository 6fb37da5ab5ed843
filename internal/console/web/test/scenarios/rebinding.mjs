import { launch } from '../browser.mjs'

// A site whose name was made to lead to this machine gets nothing of the console.
export default async function rebinding(s) {
  const port = new URL(s.address).port
  const browser = await launch(['--host-resolver-rules=MAP evil.test 127.0.0.1', '--no-proxy-server'])
  try {
    const page = await browser.newPage()
    for (const path of ['/', '/operators', '/api/v1/session', new URL(s.address).hash]) {
      const answer = await page.goto(`http://evil.test:${port}/${path.replace(/^\//, '')}`)
      s.expect(`the answer to ${path.slice(0, 10)}`, answer?.status() ?? 403, 403)
    }
    const text = await page.locator('body').textContent()
    if (!text.includes("not the console's address")) s.fault(`the page says ${text}`)
  } finally {
    await browser.close()
  }
  // The code was not used up by it.
  await s.open()
}
