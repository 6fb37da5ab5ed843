import { useSearchParams } from 'react-router-dom'
import { Form, FormGroup, FormSelect, FormSelectOption, Label } from '@patternfly/react-core'
import type { Graph, GraphNode, Operator } from '../api/types'
import { count } from '../states/words'
import { GraphLines } from './GraphLines'
import { VersionName } from './VersionName'

// ChannelGraph draws the upgrades of the channel that is chosen.
export function ChannelGraph({ operator }: { operator: Operator }) {
  const [params, setParams] = useSearchParams()
  const { channels, defaultChannel } = operator
  const named = (name?: string | null) => channels.find((channel) => channel.name === name)
  const channel = named(params.get('channel')) ?? named(defaultChannel) ?? channels[0]
  if (!channel) return <p>The package has no channel.</p>
  const choose = (name: string) => setParams((old) => {
    const next = new URLSearchParams(old)
    next.set('channel', name)
    return next
  })
  return (
    <>
      <Form className="tabard-compare" onSubmit={(event) => event.preventDefault()}>
        <FormGroup label="Channel" fieldId="channel">
          <FormSelect id="channel" value={channel.name} onChange={(_event, name) => choose(name)}>
            {channels.map(({ name }) => <FormSelectOption key={name} value={name} label={name} />)}
          </FormSelect>
        </FormGroup>
      </Form>
      {channel.graph
        ? <Drawing graph={channel.graph} name={channel.name} chosen={operator.chosen?.csv} />
        : <p>The catalogue does not tell which version of this channel upgrades from which.</p>}
    </>
  )
}

interface Props { graph: Graph; name: string; chosen?: string }

function Drawing({ graph, name, chosen }: Props) {
  return (
    <>
      <p className="tabard-small">An arrow leads to the version that OLM upgrades to. The table of versions below has the same in words.</p>
      {/* Safari takes a list without numbers for none, unless it has the role. */}
      <ol role="list" className="tabard-graph" aria-label={`Versions of the channel ${name}, the newest first`}>
        {graph.nodes.map((node, row) => (
          <li key={node.csv}>
            <GraphLines graph={graph} row={row} />
            <Words node={node} isChosen={node.csv === chosen} />
          </li>
        ))}
      </ol>
      {graph.leftOut > 0 && <p>{count(graph.leftOut, 'older version', 'older versions')} of the channel {graph.leftOut === 1 ? 'is' : 'are'} not drawn.</p>}
    </>
  )
}

function Words({ node, isChosen }: { node: GraphNode; isChosen: boolean }) {
  const notes = [...node.missing ? ['not in the catalogue'] : [], ...node.notes]
  return (
    <div className="tabard-breaks">
      {node.missing ? node.csv : <VersionName version={node} isChosen={isChosen} />}
      {node.head && <> <Label isCompact color="green">head</Label></>}
      {node.version && <div className="tabard-small">{node.csv}</div>}
      {notes.length > 0 && <div className="tabard-small">{notes.join('; ')}</div>}
    </div>
  )
}
