import type { ReactNode } from 'react'
import { Title } from '@patternfly/react-core'
import type { Explanation } from '../api/types'
import { LinkIcon, linksOf, lookInWords, type Link, type LinkShown } from './links'

// Chain is a drawing of the links in their order, which is above all else: one looks where it is broken, and
// reads then. The table at the end of the page says the same in sentences.
export function Chain({ explanation }: { explanation: Explanation }) {
  const links = linksOf(explanation)
  const isBroken = links.some(({ isFirstBroken }) => isFirstBroken)
  return (
    <section aria-labelledby="chain">
      <Title headingLevel="h2" id="chain">The chain</Title>
      <Drawing links={links} />
      <p className="tabard-small">
        From the key of the cluster to the answer of AWS.
        {isBroken && ' What is behind the first broken link is paler: it counts when that link is mended.'}
      </p>
    </section>
  )
}

interface DrawingProps<L extends Link> { links: LinkShown<L>[]; more?: (step: L) => ReactNode }

// Drawing is the links with a line between them. With more, each has room for sentences.
export function Drawing<L extends Link>({ links, more }: DrawingProps<L>) {
  return (
    <div className={`tabard-chain ${more ? 'tabard-chain-told' : 'tabard-chain-bare'}`}>
      <ol aria-label="Links of the chain">
        {links.map((shown) => <Node key={shown.step.link} shown={shown}>{more?.(shown.step)}</Node>)}
      </ol>
    </div>
  )
}

interface NodeProps { shown: LinkShown<Link>; children?: ReactNode }

function Node({ shown: { step, look, isFirstBroken, isBehind }, children }: NodeProps) {
  return (
    <li className={`tabard-link-${look}${isBehind ? ' tabard-behind' : ''}`} aria-current={isFirstBroken ? 'step' : undefined}>
      <LinkIcon look={look} />
      <div>
        <div className="tabard-link-name"><b>{step.link}</b> {step.name}</div>
        <div className="tabard-link-state">{lookInWords(look)}</div>
        {isFirstBroken && <div className="tabard-first">First broken link</div>}
        {children}
      </div>
    </li>
  )
}
