import type { Overview } from '../api/types'
import { sentence, timeInWords } from '../states/words'
import { ClusterLinks } from './ClusterLinks'
import { LackingPods } from './LackingPods'
import { TodoCard } from './TodoCard'
import { WaitingRequests } from './WaitingRequests'

export function OverviewDetails({ overview }: { overview: Overview }) {
  const { sentence: said, readAt, links, todo, command } = overview
  return (
    <>
      <div>
        <p className="tabard-breaks tabard-symptom">{sentence(said)}</p>
        <p className="tabard-small">Looked at <time dateTime={readAt}>{timeInWords(readAt)}</time>.</p>
      </div>
      <ClusterLinks links={links} command={command} />
      {todo && <TodoCard todo={todo} />}
      <LackingPods overview={overview} />
      <WaitingRequests overview={overview} />
    </>
  )
}
