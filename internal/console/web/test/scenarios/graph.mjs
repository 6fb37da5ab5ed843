import { sideways } from '../page.mjs'

// Without a cluster, a person looks at the upgrades of channels: one of a few versions, one that goes in a
// circle, and one of more versions than are drawn.
export default async function graph(s) {
  const page = await s.open()
  await page.getByRole('link', { name: 'grown', exact: true }).click()
  await s.heading('grown')
  await page.getByRole('tab', { name: 'Versions' }).click()
  const list = (channel) => page.getByRole('list', { name: `Versions of the channel ${channel}, the newest first` })
  const lines = async (channel) => (await list(channel).getByRole('listitem').allInnerTexts()).map((text) => text.trim().replace(/\s*\n\s*/g, ' | '))
  await list('stable').waitFor()
  s.expect('the versions, from the top', await lines('stable'), [
    '1.4.0 | shown | head | grown.v1.4.0', '1.3.0 | grown.v1.3.0 | no upgrade leads to it or from it', '1.2.0 | grown.v1.2.0 | upgrades from 1 more, not drawn',
    '1.1.0 | grown.v1.1.0', '1.0.0 | grown.v1.0.0 | no upgrade leads to it',
  ])
  s.expect('pictures beside them', await list('stable').locator('svg[aria-hidden=true]').count(), 5)
  const heights = await list('stable').locator('li').evaluateAll((rows) => rows.map((row) => [row.offsetHeight, Math.round(row.querySelector('svg').getBoundingClientRect().height)]))
  for (const [row, picture] of heights) if (row !== picture || row > 120) s.fault(`a row of ${row} px has a picture of ${picture} px`)
  const from = page.locator('tr', { has: page.locator('th .tabard-small', { hasText: 'grown.v1.2.0' }) }).locator('td[data-label="Upgrades from"]')
  s.expect('the table has the same in words', await from.textContent(), 'grown.v1.1.0, grown.v1.0.0, grown.v0.9.0')
  await list('stable').scrollIntoViewIfNeeded()
  await s.sound('few')

  await s.tabTo('Channel')
  await page.keyboard.press('c')
  await page.waitForURL(/channel=circle/)
  await list('circle').waitFor()
  s.expect('the circle', await lines('circle'), ['1.1.0 | grown.v1.1.0', '1.0.0 | grown.v1.0.0'])
  await list('circle').getByRole('link', { name: '1.0.0' }).click()
  await page.waitForURL(/version=1\.0\.0/)
  await list('circle').getByText('shown').waitFor()
  s.expect('the channel of another version', new URL(page.url()).searchParams.get('channel'), 'circle')

  await s.go('/operators/file:vast?tab=versions')
  await s.see('5 older versions of the channel are not drawn.')
  s.expect('nodes of a long channel', await list('long').getByRole('listitem').count(), 100)
  // Its parts are those of the short one, and a hundred of them take axe minutes.
  for (const width of [1280, 320]) {
    await page.setViewportSize({ width, height: 800 })
    await list('long').scrollIntoViewIfNeeded()
    const wide = await sideways(page)
    if (wide) s.fault(`a long channel scrolls sideways at ${width} px: ${wide}`)
    await s.picture(`long-${width}`)
  }
}
