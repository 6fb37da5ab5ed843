// What strangers wrote in a catalogue is text. Nothing of it runs, is a link elsewhere or is asked for;
// the guard of the page complains about requests to other hosts.
export default async function injected(s, { names, turn }) {
  const page = await s.open()
  page.on('dialog', (dialog) => {
    s.fault(`opens a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await page.locator('main table.tabard-table tbody tr').first().waitFor()
  await s.see('<img src=x onerror=alert(1)>')
  await s.sound('list')
  await strange(s, turn)
  await s.go('/operators?view=cards')
  await page.getByRole('list', { name: 'Operators of the catalogues' }).waitFor()
  await s.sound('cards')
  await strange(s, turn)
  await s.go('/operators')
  await page.locator('main table.tabard-table tbody tr').first().waitFor()
  await filters(s, turn)
  for (const name of JSON.parse(names)) {
    for (const tab of ['overview', 'permissions', 'versions']) {
      await s.go(`/operators/${encodeURIComponent(`file:${name}`)}?tab=${tab}`)
      await page.getByRole('tab', { selected: true }).waitFor()
      // The longest is what breaks a page; how the others look is the same.
      if (name === 'long') await s.sound(tab)
      await strange(s, turn)
    }
    await s.go(`/operators/${encodeURIComponent(`file:${name}`)}/handoff`)
    await page.getByRole('heading', { level: 1, name: /^Hand-off for/ }).waitFor()
    if (name === 'long') await s.sound('handoff')
    await strange(s, turn)
  }
}

// strange finds what came of a stranger's text.
async function strange(s, turn) {
  const found = await s.page.evaluate(() => ({
    ran: window.ran === true,
    elements: [...document.querySelectorAll('main script, main img, main iframe, main form[action], main object, main base, main [onerror], main [onclick]')].map((e) => e.outerHTML.slice(0, 200)),
    links: [...document.querySelectorAll('a')].map((a) => a.href).filter((href) => new URL(href).origin !== location.origin),
    text: document.body.textContent + document.title,
  }))
  if (found.ran) s.fault('a script of the catalogue ran')
  s.expect('elements of the catalogue', found.elements, [])
  s.expect('links of the catalogue', found.links, [])
  if (found.text.includes(turn)) s.fault(`the page has a character that turns the direction of writing, at ${s.page.url()}`)
}

// filters opens the menus that have names of strangers. To look at menus of so long names takes the
// browser minutes, so that it is not done here; the scenario filters does it.
async function filters(s, turn) {
  for (const name of ['Provider', 'Category']) {
    await s.page.locator('.pf-v6-c-toolbar').last().getByRole('button', { name: new RegExp(`^${name}`) }).first().click()
    await s.page.getByRole('option').first().waitFor()
    await s.picture(`filter-${name.toLowerCase()}`)
    await strange(s, turn)
    await s.page.reload()
    await s.page.locator('main table.tabard-table tbody tr').first().waitFor()
  }
}
