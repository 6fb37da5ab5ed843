// A person who may read the Subscriptions of a namespace and nothing else sees the install, the right that its
// first stage needs, and the Role that has it.
export default async function subscriber(s, { installed }) {
  await s.open(`/installed/${installed}/object-keeper`)
  await s.heading('object-keeper')
  const stages = s.page.getByRole('list', { name: 'Stages of the install' })
  await stages.getByText(/cannot get resource "catalogsources"/).waitFor()
  await stages.getByText('resourceNames: ["vendor"]').waitFor()
  await s.sound('stage')
  await s.go(`/installed/${installed}/object-keeper/upgrade`)
  await s.see(/cannot list resource "installplans"/)
  await s.see('name: tabard-console-reader')
  await s.sound('upgrade')
}
