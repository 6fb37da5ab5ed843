// Packs what vite built: each file of dist becomes FILE.gz, and the first load is measured.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const dist = fileURLToPath(new URL('../dist', import.meta.url))
const budget = 400_000

const index = readFileSync(join(dist, 'index.html'), 'utf8')
if (/<style|<script(?![^>]*\ssrc=)|\sstyle=/.test(index)) fail('index.html has a script or a style in it, which the Content-Security-Policy refuses')

// The manifest says which script needs which. The program does not serve it.
const manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8'))
rmSync(join(dist, '.vite'), { recursive: true })

const sizes = new Map()
for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || entry.name === '.gitkeep') continue
  const path = join(entry.parentPath, entry.name)
  // Node's gzip writes no time and no name, so the same input makes the same bytes.
  const packed = gzipSync(readFileSync(path), { level: 9 })
  // The tenth byte names the system that packed.
  packed[9] = 255
  writeFileSync(`${path}.gz`, packed)
  rmSync(path)
  sizes.set(path.slice(dist.length + 1), packed.length)
}
// Git keeps the directory by this file, and the Go program does not build without the directory.
writeFileSync(join(dist, '.gitkeep'), '')

// Where the console starts: with a cluster, and without one.
const starts = ['src/overview/OverviewPage.tsx', 'src/operators/OperatorsPage.tsx']
const first = Math.max(...starts.map((page) => [...firstLoad(page)].reduce((sum, file) => sum + sizes.get(file), 0)))
const all = [...sizes.values()].reduce((sum, size) => sum + size, 0)
console.log(`first load: ${kB(first)} of ${kB(budget)} (JS and CSS, gzip); all ${sizes.size} files: ${kB(all)}`)
if (first > budget) fail(`the first load is larger than ${kB(budget)}`)

// firstLoad is the scripts and styles of index.html, and of a page.
function firstLoad(page) {
  const files = new Set()
  const add = (name) => {
    const { file, css = [], imports = [] } = manifest[name]
    if (files.has(file)) return
    for (const other of [file, ...css]) files.add(other)
    imports.forEach(add)
  }
  add('index.html')
  add(page)
  return files
}

function kB(bytes) {
  return `${(bytes / 1000).toFixed(0)} kB`
}

function fail(why) {
  console.error(`pack: ${why}`)
  process.exit(1)
}
