// What strangers wrote into annotations, variables and labels is text.
export default async function strange(s, { namespace, turn }) {
  const page = await s.open(`/workloads?namespace=${namespace}`)
  page.on('dialog', (dialog) => {
    s.fault(`opens a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await page.getByRole('link', { name: 'labelled' }).waitFor()
  await s.see('<script>window.ran=true</script>')
  await s.sound('pods')
  await looks(s, turn)
  await page.getByRole('tab', { name: 'ServiceAccounts' }).click()
  await page.getByRole('link', { name: 'strange' }).waitFor()
  await looks(s, turn)
  for (const [state, where] of [['pod', 'pods/' + namespace + '/labelled'], ['account', 'serviceaccounts/' + namespace + '/strange']]) {
    await s.go(`/workloads/${where}`)
    await page.getByRole('heading', { level: 2, name: 'The chain' }).waitFor()
    await s.see('<script>window.ran=true</script>')
    await s.sound(state)
    await looks(s, turn)
  }
  // A name in the address that is none.
  await s.go(`/workloads/pods/${namespace}/${encodeURIComponent('<img src=x onerror=alert(1)>')}`)
  await page.getByRole('button', { name: 'Retry' }).waitFor()
  await looks(s, turn)
}

async function looks(s, turn) {
  const found = await s.page.evaluate(() => ({
    ran: window.ran === true,
    elements: [...document.querySelectorAll('main script, main img, main iframe, main [onerror], main [onclick]')].map((e) => e.outerHTML.slice(0, 200)),
    links: [...document.querySelectorAll('a')].map((a) => a.href).filter((href) => new URL(href).origin !== location.origin),
    text: document.body.textContent + document.title + [...document.querySelectorAll('[aria-label]')].map((e) => e.getAttribute('aria-label')).join(),
  }))
  if (found.ran) s.fault('a script of the cluster ran')
  s.expect('elements of the cluster', found.elements, [])
  s.expect('links of the cluster', found.links, [])
  if (found.text.includes(turn)) s.fault(`the page has a character that turns the direction of writing, at ${s.page.url()}`)
}
