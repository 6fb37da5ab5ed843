import { useEffect, useRef } from 'react'
import { useParams } from 'react-router-dom'
import type { InstallDetail } from '../api/types'
import { useFollow } from '../api/useFollow'
import { useRead } from '../api/useRead'
import { announce } from '../shell/announce'
import { Frame } from '../shell/Frame'
import { Loading } from '../states/Loading'
import { ProblemState } from '../states/ProblemState'
import { Stale } from '../states/Stale'
import { InstallDetails } from './InstallDetails'
import { ToInstalled } from './Nothing'
import { said } from './words'

export default function InstallPage() {
  const { ns = '', name = '' } = useParams()
  // With the key, nothing of one install is shown as another's.
  return <OneInstall key={`${ns}/${name}`} ns={ns} name={name} />
}

function OneInstall({ ns, name }: { ns: string; name: string }) {
  const read = useRead<InstallDetail>(`installs/${encodeURIComponent(ns)}/${encodeURIComponent(name)}`)
  const live = useFollow({ path: `events?${new URLSearchParams({ install: `${ns}/${name}` })}`, name: 'install', differs }, read)
  const { data: install, retry } = read
  const problem = read.problem ?? live.lost
  useStageNews(install)
  return (
    <Frame way={[{ name: 'Installed', to: '/installed' }, { name: `${ns}/${name}` }]} title={install?.package ?? name}>
      {install && (
        <>
          {/* A stream that is heard says that nothing has changed, however old the data is. */}
          {(problem || live.silent) && <Stale readAt={install.readAt} problem={problem} silent={live.silent} retry={retry} />}
          <InstallDetails install={install} />
        </>
      )}
      {problem && !install && <ProblemState problem={problem} retry={retry} link={<ToInstalled problem={problem} />} />}
      {!problem && !install && <Loading what="the install" />}
    </Frame>
  )
}

// differs says whether an install is another one, whenever the two were read.
function differs(news: InstallDetail, shown: InstallDetail): boolean {
  return JSON.stringify({ ...news, readAt: '' }) !== JSON.stringify({ ...shown, readAt: '' })
}

// useStageNews announces that the install came to another stage, and nothing else of what changes.
function useStageNews(install?: InstallDetail) {
  const last = useRef('')
  const news = install ? said(install.stage) : ''
  const key = install ? `${install.stage.n} ${install.stage.state}` : ''
  useEffect(() => {
    if (key === '' || key === last.current) return
    last.current = key
    announce(news)
  }, [key, news])
}
