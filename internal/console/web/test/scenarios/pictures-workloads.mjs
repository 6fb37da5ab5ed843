// The pictures of docs/console.md: a person looks for the pod that is refused.
import path from 'node:path'

export default async function pictures(s, { folder }) {
  const page = await s.open('/workloads', { height: 900 })
  const take = (name) => page.screenshot({ path: path.join(folder, `console-${name}.png`) })
  await page.getByRole('link', { name: 'checkout-6d9c' }).waitFor()
  await take('workloads')
  await page.setViewportSize({ width: 1280, height: 1080 })
  await page.getByRole('link', { name: 'checkout-6d9c' }).click()
  await page.getByRole('heading', { level: 2, name: 'First broken link: L9 trust' }).waitFor()
  // The pointer and the focus are of no use in a picture.
  await page.mouse.move(0, 0)
  await page.evaluate(() => document.activeElement?.blur())
  await take('pod')
}
