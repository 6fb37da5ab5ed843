// The pages of one install have the Role with which it can be seen.
const hasRole = ['installed', 'install-page', 'upgrade']

// A person who may do nothing in the cluster learns on each page which right is missing.
export default async function norights(s) {
  const page = await s.open()
  const operator = '/operators/CatalogSource%3Aolm%2Fvendor%3Aobject-keeper'
  for (const [state, where, name] of [['operators', '/operators', 'Operators'], ['installed', '/installed', 'Installed'], ['operator', operator, 'Operator'],
    ['install', `${operator}/install`, 'Install'], ['install-page', '/installed/olm/object-keeper', 'object-keeper'], ['upgrade', '/installed/olm/object-keeper/upgrade', /./]]) {
    await s.go(where)
    await s.heading(name)
    await s.see(/cannot (list|get) resource|You lack a right/)
    if (hasRole.includes(state)) await s.see('name: tabard-console-reader')
    await s.sound(state)
  }
  const text = await page.locator('main').textContent()
  if (/undefined|\[object Object\]|NaN/.test(text)) s.fault(`the page says ${text}`)
}
