// A stage has the words of somebody else, and no Role by them.
export default async function others(s, { installed }) {
  await s.open(`/installed/${installed}/object-keeper`)
  const stages = s.page.getByRole('list', { name: 'Stages of the install' })
  await stages.getByText(/cannot list resource "secrets"/).waitFor()
  s.expect('Roles on the page', await s.page.getByText('tabard-console-reader').count(), 0)
  await s.sound('stage')
}
