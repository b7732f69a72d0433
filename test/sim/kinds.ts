/**
 * What a simulated pipeline can have beside its grid. To add a kind: its steps here, and what the model says to them in
 * `text-model.ts` where that is not plain text.
 */
interface Kind {
  /** The steps; undefined: they do not go with this path. `path` is that of the grid; undefined: there is no grid. */
  readonly steps: (path: string | undefined) => string | undefined;
}

const ofGrid =
  (steps: string): Kind['steps'] =>
  (path) =>
    path === undefined ? undefined : steps;

const ofUpscale =
  (steps: string): Kind['steps'] =>
  (path) =>
    path?.startsWith('U1') === true ? steps : undefined;

export const kinds = {
  caption: {
    steps: ofGrid(`  caption:
    from: grid
    generate: { model: text-pro, prompt: "Caption picture {{ n }}.", images: [parent] }
`),
  },
  judge: {
    steps: ofGrid(`  pick:
    from: grid
    generate:
      model: text-pro
      prompt: Which is best?
      images: [parent]
      responseSchema: { type: object, properties: { best: { type: integer, minimum: 1, maximum: 4 } }, required: [best] }
  best:
    from: grid
    click: "U{{ steps.pick.json.best }}"
`),
  },
  frames: {
    steps: ofGrid(`  framed:
    from: grid/#*
    generate: { model: text-pro, prompt: "Caption {{ frame }} of {{ n }}.", images: [parent] }
  which:
    from: grid
    generate:
      model: text-pro
      prompt: Which is best?
      images: [parent]
      responseSchema: { type: object, properties: { best: { type: integer, minimum: 1, maximum: 4 } }, required: [best] }
  chosen:
    from: "grid/#{{ steps.which.json.best }}"
    click: U
  rated:
    from: grid/#*
    generate:
      model: text-flash
      prompt: "Rate {{ frame }} of {{ n }}."
      images: [parent]
      responseSchema: { type: object, properties: { best: { type: integer, minimum: 1, maximum: 4 } }, required: [best] }
  liked:
    best: { from: grid/#*, by: "{{ steps.rated.json.best }}", top: 2, failed: ignore }
  lively:
    from: liked
    click: V
  praise:
    from: liked/1
    generate: { model: text-flash, prompt: "Praise {{ frame }} of {{ n }}.", images: [parent] }
`),
  },
  each: {
    steps: (path) => `  ideas:
    generate:
      model: text-pro
      prompt: "Scenes of {{ n }}."
      responseSchema: { type: object, properties: { scenes: { type: array, maxItems: 5, items: { type: string } } }, required: [scenes] }
  scene:
    each: "{{ steps.ideas.json.scenes }}"
${path === undefined ? '    chat: { model: text-flash, prompt: "Of {{ item }}.", stream: true }' : '    imagine: "{{ item }}"\n    path: U1'}
  tale:
    from: ${path === undefined ? 'scene' : 'scene/U1'}
    generate: { model: text-pro, prompt: "Tell of {{ n }}, {{ item_index }}: {{ item }}."${path === undefined ? '' : ', images: [parent]'} }
`,
  },
  gather: {
    steps: (path) =>
      path?.startsWith('U1..U4') === true
        ? `  compare:
    gather: grid/*
    generate: { model: text-flash, prompt: Compare them., stream: true }
`
        : undefined,
  },
  chain: {
    steps: () => `  first:
    generate: { model: text-pro, prompt: "Tell of {{ n }}.", stream: true }
  second:
    generate: { model: text-pro, prompt: Go on., continue: first }
  third:
    generate: { model: text-pro, prompt: And on., continue: second, stream: true }
`,
  },
  functions: {
    steps: () => `  weather:
    generate:
      model: text-pro
      prompt: "How is the weather in {{ n }}?"
      functions:
        temperature: { description: It in degrees., answer: { degrees: 21 } }
        wind: { answer: calm }
      rounds: 3
  title:
    chat: { model: text-flash, prompt: "A title for {{ steps.weather.text }}", stream: true }
`,
  },
  drawing: {
    steps: () => `  drawing:
    generate: { model: text-image, prompt: "Draw {{ n }}.", generationConfig: { responseModalities: [TEXT, IMAGE] } }
  seen:
    generate: { model: text-pro, prompt: What is it?, images: [steps.drawing], continue: drawing }
`,
  },
  unkept: {
    steps: () => `  note:
    keep: false
    chat: { model: text-flash, prompt: "Note {{ n }}.", response_format: { type: json_object } }
`,
  },
  region: {
    steps: ofUpscale(`  hat:
    from: grid/U1
    click: Vary (Region)
    prompt: "a hat {{ n }}"
    mask: { shapes: [{ rectangle: [0.1, 0.1, 0.5, 0.5] }] }
`),
  },
  zoom: {
    steps: ofUpscale(`  wide:
    from: grid/U1
    click: Custom Zoom
    prompt: "picture {{ n }} --zoom 1.5"
    keep: false
`),
  },
  remix: {
    steps: ofGrid(`  other:
    from: grid
    click: V2
    remix: true
  others:
    from: other
    click: U1
`),
  },
  film: {
    steps: ofUpscale(`  film:
    from: grid/U1
    video: { image: parent, motion: low, prompt: "it moves {{ n }}" }
  moves:
    from: grid/U1
    click: Animate (Low motion)
`),
  },
  words: {
    steps: ofUpscale(`  words:
    from: grid/U1
    describe: { image: parent }
  drawn:
    imagine: { prompt: "{{ steps.words.prompts[1] }}" }
`),
  },
  mix: {
    steps: (path) =>
      path?.startsWith('U1..U4') === true || path?.startsWith('U1,U3') === true
        ? `  mix:
    gather: grid/*
    blend: { dimensions: square }
`
        : undefined,
  },
  repaint: {
    steps: ofUpscale(`  repaint:
    from: grid/U1
    edit: { image: parent, prompt: "a scarf {{ n }}", mask: { shapes: [{ ellipse: [0, 0, 1, 1] }] } }
`),
  },
  over: {
    steps: () => `  sum:
    gather: { step: talk, over: [n] }
    generate: { model: text-pro, prompt: "Sum up {{ m }}: {% for one in gathered %}{{ one.text }} {% endfor %}" }
  talk:
    generate: { model: text-pro, prompt: "Talk of {{ m }} and {{ n }}." }
  told:
    from: sum
    chat: { model: text-flash, prompt: "Tell of {{ steps.sum.text }}", stream: true }
  mark:
    from: talk
    generate:
      model: text-flash
      prompt: "Mark {{ steps.talk.text }}"
      responseSchema: { type: object, properties: { best: { type: integer, minimum: 1, maximum: 4 } }, required: [best] }
  winner:
    best: { from: talk, by: "{{ steps.mark.json.best }}", top: 2, over: [n] }
  again:
    from: winner
    generate: { model: text-pro, prompt: "Again, {{ m }} and {{ n }}, marked {{ steps.mark.json.best }}." }
  last:
    gather: { step: sum, over: all, failed: ignore }
    generate: { model: text-pro, prompt: "Of {{ gathered | size }}: {{ gathered[0].text }}" }
`,
  },
  sheet: {
    steps: ofGrid(`  sheet:
    gather: { step: grid, over: [m] }
    generate: { model: text-flash, prompt: Compare them all. }
`),
  },
} as const satisfies Readonly<Record<string, Kind>>;

/** Kinds of what is asked of the image half beside the grid. */
const taskKinds: readonly string[] = ['region', 'zoom', 'remix', 'film', 'words', 'mix', 'repaint'];
export const isTask = (name: KindName): boolean => taskKinds.includes(name);

export type KindName = keyof typeof kinds;
export const kindNames = Object.keys(kinds) as readonly KindName[];

/**
 * The pipeline of so many cells.
 *
 * @param unkept the images of its grid are not brought in, unless a step shows them
 * @param split they are cut into frames, as they are where steps start from frames
 * @param seeds their seeds are read
 */
export function pipelineOf(
  cells: number,
  path: string | undefined,
  names: readonly KindName[],
  unkept = false,
  split = false,
  seeds = false,
): string {
  const isCut = names.includes('frames') || (split && !unkept);
  const grid =
    path === undefined
      ? ''
      : `  grid:
    imagine: "picture {{ n }}"
${unkept ? '    keep: false\n' : ''}${isCut ? '    grid: split\n' : ''}${seeds ? '    seed: true\n' : ''}${path === '' ? '' : `    path: ${path}\n`}`;
  const more = names.map((name) => kinds[name].steps(path) ?? '').join('');
  const isGrouped = names.includes('over') || names.includes('sheet');
  const matrix = isGrouped
    ? `{ n: { from: 1, to: ${Math.ceil(cells / 2)} }, m: [1, 2] }`
    : `{ n: { from: 1, to: ${cells} } }`;
  return `name: sim
matrix: ${matrix}
steps:
${grid}${more}${grid === '' && more === '' ? kinds.chain.steps() : ''}`;
}
