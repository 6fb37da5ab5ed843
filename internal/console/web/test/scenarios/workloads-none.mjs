// A person who may read nothing learns on each page which right is missing.
export default async function none(s, { namespace }) {
  const page = await s.open()
  for (const [state, where] of [['pods', '/workloads'], ['accounts', '/workloads?tab=serviceaccounts'], ['pod', `/workloads/pods/${namespace}/has`],
    ['account', `/workloads/serviceaccounts/${namespace}/checkout`]]) {
    await s.go(where)
    await s.see(/cannot (list|get) resource/)
    await s.sound(state)
  }
  const text = await page.locator('main').textContent()
  if (/undefined|\[object Object\]|NaN/.test(text)) s.fault(`the page says ${text}`)
}
