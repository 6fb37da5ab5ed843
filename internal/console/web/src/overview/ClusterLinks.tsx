import { Link } from 'react-router-dom'
import { Title } from '@patternfly/react-core'
import type { LinkState } from '../api/types'
import { Command } from '../states/Command'
import { useNow } from '../states/useNow'
import { ageInWords, clockInWords, sentence, timeInWords } from '../states/words'
import { Drawing } from '../workloads/Chain'
import { linksOfCluster } from '../workloads/links'

interface Props { links: LinkState[]; command: string }

// ClusterLinks are the links that all workloads of the cluster have in common.
export function ClusterLinks({ links, command }: Props) {
  return (
    <section aria-labelledby="links">
      <Title headingLevel="h2" id="links">Links of the cluster</Title>
      <Drawing links={linksOfCluster(links)} more={(link) => <Told link={link} />} />
      <p className="tabard-small">From the key of the cluster to the webhook. Every pod that takes a role needs them.</p>
      <Command command={command} />
    </section>
  )
}

function Told({ link }: { link: LinkState }) {
  return (
    <div className="tabard-told">
      <Since link={link} />
      <p className="tabard-breaks">{sentence(link.text)}</p>
      {link.needs && <p className="tabard-small tabard-breaks">It needs: {link.needs}</p>}
      {link.by && (
        <p className="tabard-small tabard-breaks">Judged by {link.path ? <Link to={link.path}>{link.by}</Link> : link.by}</p>
      )}
    </div>
  )
}

// Since is for how long a link has been so. Of what was not seen, nobody knows.
function Since({ link: { state, since, seen } }: { link: LinkState }) {
  const now = useNow()
  if (state === 'unseen' || state === 'unasked') return null
  return (
    <p className="tabard-small">
      {since
        ? <>For {ageInWords(now - Date.parse(since))}, since <time dateTime={since}>{timeInWords(since)}</time></>
        : <>Seen so since <time dateTime={seen}>{clockInWords(seen)}</time></>}
    </p>
  )
}
