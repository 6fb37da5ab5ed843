import { open } from '../page.mjs'

// A browser that lost its half of the session says how to begin again; an address that was used says
// that it is no longer good.
export default async function ended(s) {
  const page = await s.open()
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
