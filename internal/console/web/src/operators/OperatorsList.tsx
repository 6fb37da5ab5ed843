import type { Operators } from '../api/types'
import type { Query } from '../lists/query'
import { useSession } from '../shell/session'
import { sentence } from '../states/words'
import { OperatorsCards } from './OperatorsCards'
import { OperatorsTable } from './OperatorsTable'
import { hasCards } from './query'

interface Props { data: Operators; query: Query }

// OperatorsList is the list in the view that was chosen.
export function OperatorsList({ data, query }: Props) {
  const hasCluster = useSession()?.hasCluster ?? true
  const why = data.installedUnknown
  // Where nothing is known of installs, no operator is said to have none.
  const without = withoutInstall(hasCluster, why)
  return (
    <>
      {why && <p className="tabard-small tabard-breaks">It is not known what is installed: {sentence(why)}</p>}
      {hasCards(query) ? <OperatorsCards data={data} without={without} /> : <OperatorsTable data={data} query={query} without={without} />}
    </>
  )
}

function withoutInstall(hasCluster: boolean, unknown?: string): string {
  if (!hasCluster) return ''
  return unknown ? 'Not known' : 'Not installed'
}
