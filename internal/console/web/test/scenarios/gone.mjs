// The console ends while a page is open: the page says so, and keeps what it had.
export default async function gone(s, { pid }) {
  const page = await s.open()
  await page.getByRole('link', { name: 'Object Keeper' }).waitFor()
  const overview = await s.another(`${s.origin}/overview`)
  await overview.getByRole('heading', { level: 2, name: 'Links of the cluster' }).waitFor()
  await page.bringToFront()
  process.kill(Number(pid), 'SIGINT')
  while (await fetch(s.origin).then(() => true, () => false)) await new Promise((resolve) => setTimeout(resolve, 100))

  await overview.getByRole('button', { name: 'Look again' }).click()
  await overview.getByText(/It could not be read again: The console does not answer/).waitFor()
  await overview.getByRole('heading', { level: 2, name: 'Links of the cluster' }).waitFor()
  await overview.close()

  const toolbar = page.locator('.pf-v6-c-toolbar').last()
  await toolbar.getByRole('button', { name: /^Permissions/ }).first().click()
  await page.getByRole('option', { name: /Asks for nothing/ }).click()
  await s.see('The console does not answer')
  await s.sound('filtered')
  // What the console said of another question is no answer to this one; the rest of the page stays.
  await s.see('the cluster is in token mode on AWS')
  await page.getByRole('button', { name: 'Retry' }).click()
  await s.see('The console does not answer')
  // Neither do the filters go: the person types on, and drops one.
  const search = toolbar.getByRole('textbox', { name: 'Search operators' })
  await search.pressSequentially('keep')
  await page.waitForURL(/search=keep/)
  await s.see('The console does not answer')
  await search.pressSequentially('er')
  await page.waitForURL(/search=keeper/)
  await toolbar.getByRole('button', { name: /Close Asks for nothing/ }).click()
  await page.waitForURL((url) => !url.search.includes('permissions='))
  await s.see('The console does not answer')
  s.expect('the search after all', await search.inputValue(), 'keeper')

  // A page that was never opened is not there at all. What the browser and React say of it in the
  // console is meant, so it is no fault.
  const before = page.faults.length
  await page.getByRole('link', { name: 'Installed' }).click()
  await s.heading('The page could not be shown')
  await s.see('The console does not answer')
  await s.sound('installed')
  page.faults.splice(before)
  await page.getByRole('link', { name: 'Operators' }).click()
  await s.heading('Operators')
  await s.see('The console does not answer')
}
