import { Alert, Label, Title } from '@patternfly/react-core'
import CheckCircleIcon from '@patternfly/react-icons/dist/esm/icons/check-circle-icon'
import ExclamationCircleIcon from '@patternfly/react-icons/dist/esm/icons/exclamation-circle-icon'
import QuestionCircleIcon from '@patternfly/react-icons/dist/esm/icons/question-circle-icon'
import type { Explanation } from '../api/types'
import { Command } from '../states/Command'
import { sentence, timeInWords } from '../states/words'
import { Chain } from './Chain'
import { FindingCard } from './FindingCard'
import { LinksTable } from './LinksTable'
import { PodsTable } from './PodsTable'

export function ExplainDetails({ explanation }: { explanation: Explanation }) {
  const { first, others } = explanation
  const nameOf = (link: string) => explanation.links.find((step) => step.link === link)?.name ?? ''
  return (
    <>
      <InShort explanation={explanation} />
      <Chain explanation={explanation} />
      {first && <FindingCard finding={first} title={`First broken link: ${first.link} ${nameOf(first.link)}`} level="h2" />}
      {others.length > 0 && <Title headingLevel="h2">Other findings</Title>}
      {others.map((finding, n) => <FindingCard key={n} finding={finding} title={`${finding.link} ${nameOf(finding.link)}`} level="h3" />)}
      <Title headingLevel="h2">Link by link</Title>
      <LinksTable explanation={explanation} />
      {!explanation.subject.pod && <PodsOf explanation={explanation} />}
      <Command command={explanation.command} />
    </>
  )
}

function InShort({ explanation }: { explanation: Explanation }) {
  const { verdict, sentence: said, readAt, subject } = explanation
  return (
    <div>
      <p className="tabard-breaks"><Verdict verdict={verdict} /> {sentence(said)}</p>
      <p className="tabard-breaks">Role: {roleInWords(explanation)}</p>
      {subject.actions && <p className="tabard-breaks">About the call: {subject.actions.join(', ')}{subject.resource && ` on ${subject.resource}`}</p>}
      <p className="tabard-small">Looked at <time dateTime={readAt}>{timeInWords(readAt)}</time>.</p>
    </div>
  )
}

// roleInWords says that none is named only where that was seen.
function roleInWords({ role, links }: Explanation): string {
  const isUnseen = links.some(({ link, state }) => link === 'L3' && state === 'unseen')
  return role || (isUnseen ? 'not known' : 'none is named')
}

function Verdict({ verdict }: { verdict: string }) {
  if (verdict === 'healthy') return <Label isCompact color="green" icon={<CheckCircleIcon />}>Nothing wrong</Label>
  if (verdict === 'broken') return <Label isCompact color="red" icon={<ExclamationCircleIcon />}>Broken</Label>
  return <Label isCompact color="orange" icon={<QuestionCircleIcon />}>Not all could be seen</Label>
}

function PodsOf({ explanation: { pods, podsTotal, podsUnknown } }: { explanation: Explanation }) {
  return (
    <>
      <Title headingLevel="h2">Pods that run as it</Title>
      {podsUnknown && (
        <Alert variant="warning" isInline component="h3" title="Its pods are not known"><p className="tabard-breaks">{sentence(podsUnknown)}</p></Alert>
      )}
      {!podsUnknown && pods.length === 0 && <p>No pod runs as it.</p>}
      {pods.length > 0 && <PodsTable items={pods} caption={podsTotal > pods.length ? `The first ${pods.length} of ${podsTotal.toLocaleString('en')} pods` : 'Its pods'} />}
    </>
  )
}
