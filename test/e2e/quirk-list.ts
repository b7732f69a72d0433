import type { SandboxSettings } from '../../src/sandbox/settings.ts';

/** What a gateway of the family does besides the contract: settings of the sandbox, and words for the pipeline. */
export interface Quirk {
  readonly settings?: Partial<SandboxSettings>;
  readonly names?: 'midjourney-proxy';
  /** `service.auth` of the pipeline. */
  readonly auth?: 'header';
  /** Settings of the pipeline that go with it. */
  readonly pipeline?: string;
  /** Slots (`step/branch`) that such a gateway refuses for good, and the code with which they end; all others are as ever. */
  readonly refuses?: Readonly<Record<string, string>>;
}

/** Each switch of the sandbox for what gateways do beyond the contract, by itself. */
export const quirks: Readonly<Record<string, Quirk>> = {
  none: {},
  'MODAL only when it is looked at': { settings: { modalCode: 1 } },
  'a modal goes on in the same task': { settings: { modalTask: 'same' } },
  'MODAL until the work is done': { settings: { quirks: new Set(['modal-linger']) } },
  'the same task shows MODAL until it is done': {
    settings: { quirks: new Set(['modal-linger']), modalTask: 'same' },
  },
  'an old state of a task, empty at first': { settings: { refresh: 40 } },
  'a modal of a short life': { settings: { modalLife: 1_000 } },
  'no remix': { settings: { quirks: new Set(['no-remix']) }, refuses: { 'other/V2': 'submit.refused' } },
  'remix dropped on the way': {
    settings: { quirks: new Set(['ignore-remix']) },
    refuses: { 'other/V2': 'modal.not-opened' },
  },
  'codes 21 and 22 reported as 1': { settings: { quirks: new Set(['rewrite-codes']), concurrency: 3 } },
  'ordinary buttons only': {
    settings: { quirks: new Set(['stock-buttons']) },
    refuses: { 'film/U2/U1': 'service.rejected' },
  },
  'buttons of other gateways': {
    settings: { quirks: new Set(['numbered-zoom', 'bookmarks', 'manual-animate']) },
  },
  'links in lists of objects': { settings: { linkLists: 'objects' } },
  'links in lists of texts': { settings: { linkLists: 'texts' } },
  'links in lists of objects alone': { settings: { linkLists: 'only-objects' } },
  'links in lists of texts alone': { settings: { linkLists: 'only-texts' } },
  'two rows of one task, one of them in MODAL': {
    settings: { quirks: new Set(['modal-linger', 'two-rows']), modalTask: 'same' },
    pipeline: 'list: true',
  },
  'no previews': { settings: { quirks: new Set(['no-previews']) } },
  'states in other words': { settings: { quirks: new Set(['state-words']) } },
  'buttons null': { settings: { quirks: new Set(['null-buttons']) } },
  'progress in words': { settings: { quirks: new Set(['progress-texts']) } },
  'errors as {description, type, code}': { settings: { errorShape: 'flat' } },
  'errors as submit responses': { settings: { errorShape: 'submit' } },
  'a short queue, full with code 23': { settings: { concurrency: 3, queue: 2 } },
  'a short queue, full with code 9': { settings: { concurrency: 3, queue: 2, queueFullCode: 9 } },
  'code 21 for what exists': { settings: { quirks: new Set(['deduplicate']) } },
  'accountFilter stripped': { settings: { quirks: new Set(['no-account-modes']) } },
  'no lists of tasks, and lists asked for': {
    settings: { quirks: new Set(['no-listing']) },
    pipeline: 'list: true',
  },
  'lists of tasks': { pipeline: 'list: true' },
  'unknown tasks answered with nothing': { settings: { unknownTask: 'empty' } },
  'unknown tasks answered with 204': { settings: { unknownTask: 'no-content' } },
  'ids as bare numbers': { settings: { quirks: new Set(['bare-ids']) } },
  'links of a short life': { settings: { linkLife: 1_000 } },
  'buttons of a short life': { settings: { buttonLife: 1_000 } },
  'native texts in snake case': { settings: { quirks: new Set(['snake-case']) } },
  'other names': { names: 'midjourney-proxy' },
  'the key in headers alone': {
    names: 'midjourney-proxy',
    auth: 'header',
    settings: { auth: 'header' },
  },
  'the key of images without Bearer': { names: 'midjourney-proxy', settings: { auth: 'raw' } },
};

/** All of them that do not exclude each other. */
export const allQuirks: Quirk = {
  settings: {
    quirks: new Set([
      'modal-linger',
      'rewrite-codes',
      'numbered-zoom',
      'bookmarks',
      'manual-animate',
      'two-rows',
      'no-previews',
      'null-buttons',
      'progress-texts',
      'deduplicate',
      'no-account-modes',
      'bare-ids',
    ]),
    modalCode: 1,
    modalTask: 'same',
    modalLife: 30_000,
    linkLists: 'only-texts',
    refresh: 40,
    errorShape: 'flat',
    concurrency: 8,
    queue: 4,
    queueFullCode: 9,
    unknownTask: 'empty',
    // On a busy machine a download may wait for seconds.
    linkLife: 30_000,
    // A button is read just before it is pressed; a submission that has to wait for the queue finds it older.
    buttonLife: 30_000,
  },
  names: 'midjourney-proxy',
  pipeline: 'list: true',
};

/** Every tenth request, about, meets one of these. What is `after` was carried out, and nobody is told. */
export const mixedFaults = [
  'submit:503:2.5%',
  'submit:reset-before:1%',
  'submit:reset-after:1.5%',
  'submit:hidden-timeout:1%',
  'submit:hidden-timeout-before:0.5%',
  'submit:504-after:1%',
  'submit:429=1:0.2%',
  'submit:refuse=not-noted:0.5%',
  'submit:refuse=no-channel:0.5%',
  'submit:refuse=no-channel-400:0.5%',
  'action:refuse=channel-disabled:0.5%',
  'submit:refuse=queue-limit:0.5%',
  'submit:code=23:1%',
  'submit:code=30:0.2%',
  'action:not-ready:0.5%',
  'action:not-ready=status:0.5%',
  'action:not-ready=button:0.5%',
  'action:fail=internal-error:1%',
  'modal:fail=task-timeout:2%',
  'video:fail=service-error:2%',
  'blend:fail=internal-error:2%',
  'describe:fail=failed-command:2%',
  'edits:cancel:1%',
  'fetch:503:2%',
  'fetch:404:1%',
  'fetch:reset-after:2%',
  'fetch:truncate:1.5%',
  'fetch:link=expired:1%',
  'fetch:link=foreign:1%',
  'fetch:link=missing:0.5%',
  'fetch:link=stale-videos:1%',
  'fetch:status=PAUSED:2%',
  'list-by-condition:503:3%',
  'list-by-condition:reset-after:3%',
  'list-by-condition:truncate:3%',
  'image:truncate:4%',
  'image:json=200:3%',
  'image:reset-before:2%',
  'image:410:1%',
  'text:503:4%',
  'text:reset-after:3%',
  'text:truncate:3%',
] as const;

/** Not where what exists is answered with code 21: there an imagine whose task has failed leads to that task for ever. */
export const failedImagines = 'imagine:fail=internal-error:2%';
