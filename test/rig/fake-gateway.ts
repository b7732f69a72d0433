import { html, json, type Reply, refused } from './fake-reply.ts';
import type { FakeSays } from './fake-saying.ts';
import { buttonsAfter, type FakeButton, type FakeTask, type TaskScript, wantsModal } from './fake-task.ts';
import { FakeTextGateway, type FakeTextOptions, locateText, type TextAddress } from './fake-text.ts';
import type { FakeRequest } from './faults.ts';
import { makePng } from './png.ts';

/** How the gateway behaves when nothing goes wrong. */
export interface FakeGatewayOptions {
  /** Default `test-key`. */
  readonly apiKey?: string;
  /** Path the API lies under, for example `/proxy/v2`. Default none. */
  readonly basePath?: string;
  /** Default `neutral`: `/img`, `IMG::`; `midjourney-proxy`: `/mj`, `MJ::`. */
  readonly names?: 'neutral' | 'midjourney-proxy';
  /** Polls that see a task unfinished before one sees it finished. Default 1. */
  readonly polls?: number;
  /** How single tasks go. Called once, when the task is made. */
  readonly script?: (task: FakeTask) => TaskScript | undefined;
  /** Pixels of the images. Default 8 by 8. */
  readonly image?: { readonly width: number; readonly height: number };
  /** A link answers this often, then 403 until the task is fetched again (which gives a fresh link). Default always. */
  readonly downloads?: number;
  /** Task ids by number. Default 16 digits, counted. */
  readonly id?: (n: number) => string;
  /** Ids leave as bare JSON numbers. */
  readonly bareIds?: boolean;
  /** More tasks than this in flight are refused with code 23. Default no limit. */
  readonly capacity?: number;
  /** What the models say. Default: what follows from the request. */
  readonly text?: FakeTextOptions;
  /** Keep what was asked for; off for the big runs. Default true. */
  readonly log?: boolean;
}

/** A submission that made a task. */
export interface FakeSubmit {
  readonly task: FakeTask;
  readonly route: 'imagine' | 'action';
  readonly body: Readonly<Record<string, unknown>>;
}

/** The tasks that were made, in ways to count them. */
export interface FakeSubmits {
  /** In order; only those that made a task. */
  readonly all: readonly FakeSubmit[];
  /** Prompt of an imagine → tasks made of it. */
  readonly byPrompt: ReadonlyMap<string, number>;
  /** `<parent task id> <customId>` → tasks made of it. */
  readonly byClick: ReadonlyMap<string, number>;
  /** `<prompt>`, or `<prompt> > <path of labels>` → tasks made of it: the same click, whatever the ids. */
  readonly byPath: ReadonlyMap<string, number>;
}

/** Where a request leads. */
export interface Address {
  readonly route: FakeRequest['route'];
  readonly speed: FakeTask['speed'];
  /** Of a fetch or an image. */
  readonly id: string;
  readonly text?: TextAddress;
}

const words = {
  neutral: { path: 'img', prefix: 'IMG', errorType: 'svc_api_error' },
  'midjourney-proxy': { path: 'mj', prefix: 'MJ', errorType: 'new_api_error' },
} as const;

const queueFull = '队列已满，请稍后尝试';

const increment = (map: Map<string, number>, key: string): void => {
  map.set(key, (map.get(key) ?? 0) + 1);
};

/** The gateway without its HTTP: tasks in memory, and what is answered to a request. Every call is carried out at once. */
export class FakeGateway {
  readonly apiKey: string;
  readonly basePath: string;
  readonly texts: FakeTextGateway;
  readonly tasks = new Map<string, FakeTask>();
  readonly all: FakeSubmit[] = [];
  readonly byPrompt = new Map<string, number>();
  readonly byClick = new Map<string, number>();
  readonly byPath = new Map<string, number>();
  /** High-water mark of tasks in flight. */
  peak = 0;
  /** `http://127.0.0.1:<port>`. */
  origin = '';
  #open = 0;
  #requestIds = 0;
  readonly #options: FakeGatewayOptions;

  constructor(options: FakeGatewayOptions) {
    this.#options = options;
    this.apiKey = options.apiKey ?? 'test-key';
    this.basePath = options.basePath ?? '';
    this.texts = new FakeTextGateway(options.text ?? {}, options.log !== false);
  }

  get #words(): (typeof words)[keyof typeof words] {
    return words[this.#options.names ?? 'neutral'];
  }

  locate(path: string): Address {
    const word = this.#words.path;
    const unknown: Address = { route: 'unknown', speed: 'relax', id: '' };
    if (path.startsWith('/images/'))
      return { ...unknown, route: 'image', id: path.slice(8).split(/[.?]/, 1)[0] ?? '' };
    if (path.startsWith('/site/')) return { ...unknown, route: 'site' };
    if (!path.startsWith(`${this.basePath}/`)) return unknown;
    const text = locateText(path.slice(this.basePath.length));
    if (text !== undefined) return { ...unknown, route: text.endpoint, text };
    const parts = path.slice(this.basePath.length + 1).split('/');
    let speed: Address['speed'] = 'relax';
    if (parts[0] === `${word}-fast` || parts[0] === `${word}-turbo`) {
      speed = parts[0] === `${word}-fast` ? 'fast' : 'turbo';
      parts.shift();
    }
    if (parts[0] !== word) return unknown;
    if (parts[1] === 'submit' && parts.length === 3 && (parts[2] === 'imagine' || parts[2] === 'action'))
      return { route: parts[2], speed, id: '' };
    if (parts[1] === 'task' && parts.length === 4 && parts[3] === 'fetch')
      return { route: 'fetch', speed, id: decodeURIComponent(parts[2] ?? '') };
    return unknown;
  }

  /** The proper answer; carries the request out. `instead`: what a model is to say. */
  answer(request: FakeRequest, address: Address, instead?: FakeSays): Reply {
    const { route, headers, method, body } = request;
    if (route === 'site') return html('<!doctype html><title>Welcome</title>', 200);
    // service.md 7.3: an unknown path leads to the public web site.
    if (route === 'unknown')
      return html('<title>301</title>', 301, { location: `${this.origin}/site${request.path}` });
    if (route === 'image') return this.#image(request.path, address.id);
    if (!this.#isKnown(route, headers)) return this.#refuse(401, 'invalid token');
    if (route === 'models') return this.#ask(request, address);
    if (route === 'fetch') return this.#fetch(address.id);
    if (method !== 'POST' || body === undefined) return this.#refuse(400, 'invalid request');
    if (address.text !== undefined) return this.#ask(request, address, instead);
    return route === 'imagine' ? this.#imagine(body, address.speed) : this.#action(body, address.speed);
  }

  /** service.md 5: the native endpoint takes a header of its own as well; chat takes Bearer only. */
  #isKnown(route: FakeRequest['route'], headers: FakeRequest['headers']): boolean {
    const isNative = route === 'generate' || route === 'stream';
    return (
      headers.authorization === `Bearer ${this.apiKey}` ||
      (isNative && headers['x-vendor-api-key'] === this.apiKey)
    );
  }

  #ask(request: FakeRequest, { text }: Address, instead?: FakeSays): Reply {
    if (text === undefined) throw new Error(`${request.path} is no text call`);
    const reply = this.texts.answer(request, text, instead);
    return typeof reply === 'string' ? this.#refuse(400, reply) : reply;
  }

  finish(id?: string): void {
    for (const task of id === undefined ? this.tasks.values() : [this.#task(id)]) task.released = true;
  }

  renewButtons(id: string): void {
    const task = this.#task(id);
    task.generation += 1;
    task.buttons = buttonsAfter(task.pressed, task.number, this.#words.prefix, task.generation);
  }

  #task(id: string): FakeTask {
    const task = this.tasks.get(id);
    if (task === undefined) throw new Error(`no task ${id}`);
    return task;
  }

  #refuse(status: number, text: string): Reply {
    const id = `20261101${String(++this.#requestIds).padStart(10, '0')}`;
    const message = `${text} (request id: ${id})`;
    return json({ error: { code: '', message, type: this.#words.errorType } }, status);
  }

  /** Ids may be sent as bare numbers, which JSON.stringify cannot write beyond 2^53. */
  #withId(key: string, id: string, rest: object): Reply {
    if (this.#options.bareIds !== true) return json({ ...rest, [key]: id });
    const reply = json({ [key]: '@id', ...rest });
    return { ...reply, body: Buffer.from(reply.body.toString().replace('"@id"', id)) };
  }

  #imagine(body: FakeSubmit['body'], speed: FakeTask['speed']): Reply {
    if (typeof body['prompt'] !== 'string' || body['prompt'] === '') return refused(4, 'prompt_is_required');
    return this.#submit('imagine', speed, body);
  }

  #action(body: FakeSubmit['body'], speed: FakeTask['speed']): Reply {
    const parent = this.tasks.get(String(body['taskId']));
    if (parent === undefined) return refused(3, '关联任务不存在或已失效');
    if (!parent.succeeded) return refused(4, '关联任务状态错误');
    const pressed = parent.buttons.find((b) => b.customId === body['customId']);
    if (pressed === undefined) return refused(4, 'customId is outdated');
    return this.#submit('action', speed, body, { parent, pressed });
  }

  #submit(
    route: FakeSubmit['route'],
    speed: FakeTask['speed'],
    body: FakeSubmit['body'],
    click?: { readonly parent: FakeTask; readonly pressed: FakeButton },
  ): Reply {
    if (this.#open >= (this.#options.capacity ?? Infinity)) return refused(23, queueFull);
    const task = this.#make(route, speed, body, click);
    if (task.pressed === undefined || !wantsModal(task.pressed))
      return this.#withId('result', task.id, { code: 1, description: 'Submit success', properties: {} });
    return this.#withId('result', task.id, {
      code: 21,
      description: 'Waiting for window confirm',
      properties: { finalPrompt: task.prompt, remix: true },
    });
  }

  #make(
    route: FakeSubmit['route'],
    speed: FakeTask['speed'],
    body: FakeSubmit['body'],
    click: { readonly parent: FakeTask; readonly pressed: FakeButton } | undefined,
  ): FakeTask {
    const number = this.tasks.size + 1;
    const prompt = click?.parent.prompt ?? String(body['prompt']);
    const labels = click && [click.parent.path, click.pressed.label || click.pressed.emoji];
    const task: FakeTask = {
      id: this.#options.id?.(number) ?? String(1_700_000_000_000_000 + number),
      number,
      kind: route,
      speed,
      prompt,
      ...click,
      path: labels?.filter((label) => label !== '').join('/') ?? '',
      script: {},
      buttons: buttonsAfter(click?.pressed, number, this.#words.prefix),
      generation: 0,
      polls: 0,
      ended: false,
      succeeded: false,
      released: false,
      link: 1,
      downloads: 0,
    };
    const script = this.#options.script?.(task);
    if (script !== undefined) Object.assign(task, { script, buttons: script.buttons ?? task.buttons });
    this.tasks.set(task.id, task);
    this.all.push({ task, route, body });
    if (click === undefined) increment(this.byPrompt, prompt);
    else increment(this.byClick, `${click.parent.id} ${click.pressed.customId}`);
    increment(this.byPath, task.path === '' ? prompt : `${prompt} > ${task.path}`);
    this.#open += 1;
    this.peak = Math.max(this.peak, this.#open);
    return task;
  }

  #fetch(id: string): Reply {
    const task = this.tasks.get(id);
    if (task === undefined)
      return json({ description: 'task_no_found ', type: 'upstream_error', code: 4 }, 400);
    const { script, pressed } = task;
    task.polls += 1;
    const modal = pressed !== undefined && wantsModal(pressed) && script.status === undefined;
    const done = !modal && (task.released || task.polls > (script.polls ?? this.#options.polls ?? 1));
    const status = done ? (script.status ?? 'SUCCESS') : modal ? 'MODAL' : 'IN_PROGRESS';
    const success = status === 'SUCCESS';
    if (done && !task.ended) {
      task.ended = true;
      task.succeeded = success;
      this.#open -= 1;
    }
    if (success && task.downloads >= (this.#options.downloads ?? Infinity)) {
      task.link += 1;
      task.downloads = 0;
    }
    const link = `${this.origin}/images/${encodeURIComponent(task.id)}.png?ex=${task.link}`;
    return this.#withId('id', task.id, {
      action: task.kind === 'imagine' ? 'IMAGINE' : 'ACTION',
      status,
      progress: done ? '100%' : `${Math.min(99, task.polls * 15)}%`,
      prompt: task.prompt,
      imageUrl: success ? (script.imageUrl ?? link) : '',
      failReason: done && !success ? (script.failReason ?? '[Internal error] Something went wrong') : '',
      buttons: success ? task.buttons : [],
      ...script.answer?.(task.polls),
    });
  }

  #image(path: string, id: string): Reply {
    const task = this.tasks.get(decodeURIComponent(id));
    if (task === undefined) return json({ error: 'midjourney_task_not_found' }, 404);
    if (!path.endsWith(`?ex=${task.link}`) || task.downloads >= (this.#options.downloads ?? Infinity))
      return json({ error: 'This content is no longer available.' }, 403);
    task.downloads += 1;
    const { width, height } = this.#options.image ?? { width: 8, height: 8 };
    const body = task.script.image ?? makePng(task.number, width, height);
    return { status: 200, headers: { 'content-type': 'image/png' }, body };
  }
}
