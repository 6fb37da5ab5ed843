import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

// licences writes licences.txt: what the licence of each package asks for whose code or style is in the bundle.
export function licences() {
  return {
    name: 'licences',
    generateBundle(_options, bundle) {
      const homes = new Set()
      for (const chunk of Object.values(bundle)) {
        for (const [id, { renderedLength }] of Object.entries(chunk.modules ?? {})) {
          const path = id.replace(/^\0/, '').split('?')[0]
          // Styles have been taken out of the script, so nothing of them is rendered there.
          if (path.includes('/node_modules/') && (renderedLength > 0 || path.endsWith('.css'))) homes.add(homeOf(path))
        }
      }
      const texts = [...homes].filter(Boolean).sort().map(licenceOf)
      this.emitFile({ type: 'asset', fileName: 'licences.txt', source: texts.join(`\n${'-'.repeat(72)}\n\n`) })
    },
  }
}

// homeOf is the directory of the package that a file is of: the nearest one whose package.json has a name and a version.
function homeOf(path) {
  for (let dir = dirname(path); dir.includes('/node_modules/'); dir = dirname(dir)) {
    const file = join(dir, 'package.json')
    if (!existsSync(file)) continue
    const { name, version } = JSON.parse(readFileSync(file, 'utf8'))
    if (name && version) return dir
  }
  return undefined
}

function licenceOf(dir) {
  const { name, version, license } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'))
  if (!license) throw new Error(`${name} ${version} does not say its licence`)
  const files = readdirSync(dir).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)).sort()
  const texts = files.map((file) => readFileSync(join(dir, file), 'utf8').trim())
  return [`${name} ${version}`, `Licence: ${license}`, '', ...texts, ''].join('\n')
}
