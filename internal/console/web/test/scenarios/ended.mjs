import { open } from '../page.mjs'

// A session that ends takes nothing of what was filled in, and goes on when another tab has begun one. A
// browser that lost its half of the session says how to begin again; an address that was used says that it
// is no longer good.
export default async function ended(s, { terminal }) {
  await stays(s, terminal)
  await typing(s, terminal)
  const { page } = s
  await s.go('/operators')
  await page.getByRole('link', { name: 'Object Keeper' }).waitFor()
  await page.evaluate(() => localStorage.removeItem('tabard-csrf'))
  await page.reload()
  await s.heading('Your session has ended')
  await s.see('tabard console')
  await s.sound('lost')

  const stranger = await open(s.browser, s.address)
  await stranger.getByRole('heading', { level: 1, name: 'This address is no longer good' }).waitFor()
  await stranger.getByText(/Press Enter where tabard console runs/).waitFor()
  s.page = stranger
  await s.sound('used-twice')
  if (new URL(stranger.url()).hash !== '') s.fault(`the address still has the code: ${stranger.url()}`)
  for (const fault of stranger.faults) s.fault(fault)
}

// Who types a search stays where they type.
async function typing(s, terminal) {
  await s.go('/operators')
  const { page } = s
  const search = page.getByRole('textbox', { name: 'Search operators' })
  await search.focus()
  await page.context().clearCookies()
  await page.keyboard.type('kee')
  const alert = page.getByRole('group', { name: 'Your session has ended' })
  await alert.waitFor()
  await page.keyboard.type('per')
  s.expect('what was typed', await search.inputValue(), 'keeper')
  s.expect('the search has the focus', await search.evaluate((field) => field === document.activeElement), true)
  const other = await s.another(await s.types(terminal, 'Enter'))
  await other.getByRole('heading', { level: 1, name: /^(Overview|Operators)$/ }).waitFor()
  await other.close()
  await alert.waitFor({ state: 'detached' })
  s.expect('it stays there', await search.evaluate((field) => field === document.activeElement), true)
}

async function stays(s, terminal) {
  const page = await s.open('/try')
  const pasted = 'An error occurred (AccessDenied) when calling the AssumeRoleWithWebIdentity operation: Not authorized to perform sts:AssumeRoleWithWebIdentity'
  const text = page.getByRole('textbox', { name: /^Text/ })
  const decode = page.getByRole('button', { name: 'Decode', exact: true })
  await text.fill(pasted)
  await page.context().clearCookies()
  await decode.click()
  const alert = page.getByRole('group', { name: 'Your session has ended' })
  await alert.getByText(/Press Enter where tabard console runs/).waitFor()
  const focused = () => page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Your session has ended')
  await focused()
  await s.sound('over')

  const asked = []
  page.on('request', (request) => asked.push(request.url()))
  await text.focus()
  await page.keyboard.press('Control+A')
  s.expect('the text that can be copied', await page.evaluate(() => document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)), pasted)
  await decode.click()
  await page.getByRole('heading', { name: 'There is no session' }).waitFor()
  s.expect('what was sent after the end', asked, [])
  await page.getByRole('button', { name: 'I have opened it again' }).click()
  await alert.waitFor()
  await focused()

  const other = await s.another(await s.types(terminal, 'Enter'))
  await other.getByRole('heading', { level: 1, name: /^(Overview|Operators)$/ }).waitFor()
  await other.close()
  await alert.waitFor({ state: 'detached' })
  await page.getByRole('heading', { name: 'This was not done' }).waitFor()
  s.expect('the text after it', await text.inputValue(), pasted)
  await s.sound('again')
  await decode.click()
  await page.getByRole('heading', { level: 2, name: /^This is an error about link/ }).waitFor()
}
