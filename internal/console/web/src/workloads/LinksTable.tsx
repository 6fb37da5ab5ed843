import { Caption, Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table'
import type { Explanation } from '../api/types'
import { sentence } from '../states/words'
import { LinkIcon, linksOf, lookInWords, type LinkShown } from './links'

// LinksTable says of each link what was seen of it.
export function LinksTable({ explanation }: { explanation: Explanation }) {
  return (
    <Table variant="compact" gridBreakPoint="grid-md" className="tabard-table">
      <Caption>The links, and what was seen of each</Caption>
      <Thead><Tr><Th width={15}>Link</Th><Th width={15}>State</Th><Th width={70}>What was seen</Th></Tr></Thead>
      <Tbody>{linksOf(explanation).map((shown) => <OneRow key={shown.step.link} shown={shown} />)}</Tbody>
    </Table>
  )
}

function OneRow({ shown: { step, look, isFirstBroken } }: { shown: LinkShown }) {
  const seen = look === 'unasked' ? `This version does not look at it: ${step.text}` : step.text
  return (
    <Tr>
      <Th scope="row" dataLabel="Link">{step.link} {step.name}</Th>
      <Td dataLabel="State">
        <span className={`tabard-link-state tabard-link-${look}`}><LinkIcon look={look} /> {lookInWords(look)}</span>
        {isFirstBroken && <div className="tabard-small">First broken link</div>}
      </Td>
      <Td dataLabel="What was seen" modifier="breakWord">
        {sentence(seen)}
        {step.needs && <div className="tabard-small">It needs: {step.needs}</div>}
      </Td>
    </Tr>
  )
}
