import { useSession } from './session'

// Who says in which cluster, and as whom, things are read.
export function Who() {
  const session = useSession()
  if (!session) return null
  const place = session.hasCluster ? session.cluster : session.catalogue
  return (
    <dl className="tabard-who">
      <div><dt>{session.hasCluster ? 'Cluster' : 'Catalogue'}</dt><dd title={place}>{place}</dd></div>
      {session.user !== '' && <div><dt>User</dt><dd title={session.user}>{session.user}</dd></div>}
    </dl>
  )
}
