import { type Address, isSubmitRoute, locate } from './fake-address.ts';
import { readEntry } from './fake-entry.ts';
import { fileReply } from './fake-file.ts';
import type { FakeGatewayOptions } from './fake-options.ts';
import { type FakeMoment, recordOf } from './fake-record.ts';
import { html, json, type Reply, refused, withId } from './fake-reply.ts';
import type { FakeSays } from './fake-saying.ts';
import type { FakeModal, FakeSubmit, FakeSubmits } from './fake-submits.ts';
import { buttonsAfter, type FakeButton, type FakeTask, filmsOf, wantsModal } from './fake-task.ts';
import { FakeTextGateway } from './fake-text.ts';
import type { FakeRequest } from './faults.ts';

const words = {
  neutral: { path: 'img', prefix: 'IMG', errorType: 'svc_api_error' },
  'midjourney-proxy': { path: 'mj', prefix: 'MJ', errorType: 'new_api_error' },
} as const;

const queueFull = '队列已满，请稍后尝试';

const increment = (map: Map<string, number>, key: string): void => {
  map.set(key, (map.get(key) ?? 0) + 1);
};

/** The gateway without its HTTP: tasks in memory, and what is answered to a request. Every call is carried out at once. */
export class FakeGateway implements FakeSubmits {
  readonly apiKey: string;
  readonly basePath: string;
  readonly texts: FakeTextGateway;
  readonly tasks = new Map<string, FakeTask>();
  readonly all: FakeSubmit[] = [];
  readonly byPrompt = new Map<string, number>();
  readonly byClick = new Map<string, number>();
  readonly byPath = new Map<string, number>();
  readonly modals: FakeModal[] = [];
  readonly secondModals: string[] = [];
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
    const address = locate(path, this.basePath, this.#words.path);
    const { listing, prefixes, buttonless = false, names } = this.#options;
    const lacks =
      (address.route === 'list' && listing === false) ||
      (address.prefixed === true && prefixes === false) ||
      (address.route === 'action' && buttonless) ||
      (address.route === 'change' && names !== 'midjourney-proxy');
    return lacks ? { route: 'unknown', speed: 'relax', id: '' } : address;
  }

  /** The proper answer; carries the request out. `instead`: what a model is to say. */
  answer(request: FakeRequest, address: Address, instead?: FakeSays): Reply {
    const { route, headers, method, body } = request;
    if (route === 'site') return html('<!doctype html><title>Welcome</title>', 200);
    // gateway 8.3: an unknown path leads to the public web site.
    if (route === 'unknown')
      return html('<title>301</title>', 301, { location: `${this.origin}/site${request.path}` });
    if (route === 'image')
      return fileReply(this.tasks.get(decodeURIComponent(address.id)), request.path, address, this.#options);
    if (!this.#isKnown(route, headers))
      return this.#options.refusal === 'mute'
        ? { ...json({}, 403), body: Buffer.alloc(0) }
        : this.#refuse(401, 'invalid token');
    if (route === 'models') return this.#ask(request, address);
    if (route === 'fetch') return this.#fetch(address.id);
    if (route === 'list' && address.id === 'list') return this.#list([...this.tasks.keys()]);
    if (method !== 'POST' || body === undefined) return this.#refuse(400, 'invalid request');
    if (address.text !== undefined) return this.#ask(request, address, instead);
    if (route === 'list') return this.#list(Array.isArray(body['ids']) ? body['ids'].map(String) : []);
    if (!isSubmitRoute(route)) throw new Error(`${request.path} is no submission`);
    switch (route) {
      case 'imagine':
        return this.#imagine(body, address.speed);
      case 'action':
        return this.#action(body, address.speed);
      case 'change':
        return this.#change(body, address.speed);
      case 'modal':
        return this.#modal(body);
      case 'blend':
      case 'describe':
      case 'video':
      case 'edits':
        return this.#entry(route, body, address.speed);
    }
  }

  /** gateway 1.4: the native endpoint takes a header of its own as well; chat takes Bearer only. */
  #isKnown(route: FakeRequest['route'], headers: FakeRequest['headers']): boolean {
    const isNative = route === 'generate' || route === 'stream';
    const { auth = 'bearer' } = this.#options;
    if (auth === 'none') return true;
    const isText = isNative || route === 'chat' || route === 'models';
    if (auth === 'header' && isNative)
      return [headers['x-goog-api-key'], headers['x-vendor-api-key']].includes(this.apiKey);
    if (auth === 'header' && !isText) return headers['mj-api-secret'] === this.apiKey;
    if (auth === 'raw' && !isText) return headers.authorization === this.apiKey;
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
    task.buttons = this.#buttonsOf(task);
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

  #imagine(body: FakeSubmit['body'], speed: FakeTask['speed']): Reply {
    const { prompt } = body;
    if (typeof prompt !== 'string' || prompt === '') return refused(4, 'prompt_is_required');
    return this.#submit(body, { kind: 'imagine', speed, prompt, subject: prompt, path: '', films: 0 });
  }

  #action(body: FakeSubmit['body'], speed: FakeTask['speed']): Reply {
    const named = this.tasks.get(String(body['taskId']));
    const parent = named?.modal?.result ?? named;
    if (parent === undefined) return refused(3, '关联任务不存在或已失效');
    if (!parent.succeeded) return refused(4, '关联任务状态错误');
    const pressed = parent.buttons.find((b) => b.customId === body['customId']);
    if (pressed === undefined) return refused(4, 'customId is outdated');
    const { prompt, subject } = parent;
    const remix = body['enableRemix'] === true || this.#options.remix === true;
    const path = [parent.path, pressed.label || pressed.emoji].filter((label) => label !== '').join('/');
    const asks = wantsModal(pressed, remix) && this.#options.windowless !== true;
    const modal = asks ? { modal: {} } : {};
    const films = filmsOf(pressed);
    return this.#submit(body, {
      kind: 'action',
      speed,
      prompt,
      subject,
      path,
      films,
      parent,
      pressed,
      ...modal,
    });
  }

  /** gateway 2.4: a click that names no button of its grid. */
  #change(body: FakeSubmit['body'], speed: FakeTask['speed']): Reply {
    const { taskId, action, index } = body;
    const parent = this.tasks.get(String(taskId));
    const word = { UPSCALE: 'upsample', VARIATION: 'variation', REROLL: 'reroll' }[String(action)];
    const id = new RegExp(`::${word}::${action === 'REROLL' ? '' : `${String(index)}::`}`);
    const pressed = parent?.buttons.find(({ customId }) => id.test(customId));
    if (parent !== undefined && pressed === undefined) return refused(4, '关联任务不允许执行变化');
    return this.#action({ ...body, customId: pressed?.customId }, speed);
  }

  #entry(
    route: 'blend' | 'describe' | 'video' | 'edits',
    body: FakeSubmit['body'],
    speed: FakeTask['speed'],
  ): Reply {
    const entry = readEntry(route, body);
    if ('status' in entry) return entry;
    if (entry.extends !== undefined && !this.tasks.get(entry.extends)?.succeeded)
      return refused(4, '关联任务状态错误');
    const { prompt, asked, films } = entry;
    return this.#submit(body, { kind: route, speed, prompt, subject: asked, path: '', films });
  }

  #modal(body: FakeSubmit['body']): Reply {
    const task = this.tasks.get(String(body['taskId']));
    if (task === undefined) return refused(3, '关联任务不存在或已失效');
    const { modal, pressed } = task;
    if (modal === undefined || pressed === undefined) return refused(4, '关联任务状态错误');
    if (modal.result !== undefined) {
      this.secondModals.push(task.tag);
      return refused(4, 'The modal was submitted already');
    }
    if (
      /::Inpaint::/.test(pressed.customId) &&
      !String(body['maskBase64']).startsWith('data:image/png;base64,')
    )
      return refused(4, 'maskBase64');
    if (this.#open > (this.#options.capacity ?? Infinity)) return refused(23, queueFull);
    const said = body['prompt'];
    const prompt = typeof said === 'string' && said !== '' ? said : task.prompt;
    const { modal: _, ...rest } = task;
    const isSame = this.#options.modalTask === 'same';
    const result = isSame ? task : this.#add({ ...rest, prompt });
    if (isSame) Object.assign(task, { prompt, polls: 0 });
    this.#script(result);
    modal.result = result;
    this.modals.push({ task, result, body });
    return this.#accepted(result, 1);
  }

  #submit(body: FakeSubmit['body'], begun: Begun): Reply {
    if (this.#open >= (this.#options.capacity ?? Infinity)) return refused(23, queueFull);
    const { state = '' } = body;
    const task = this.#add({ ...begun, tag: String(state) });
    this.#script(task);
    const { prompt, subject, path, parent, pressed } = task;
    const asked = path === '' ? subject : `${subject} > ${path}`;
    this.all.push({ task, route: begun.kind, body, asked });
    if (begun.kind === 'imagine') increment(this.byPrompt, prompt);
    if (parent !== undefined && pressed !== undefined)
      increment(this.byClick, `${parent.id} ${pressed.customId}`);
    increment(this.byPath, asked);
    this.#open += 1;
    this.peak = Math.max(this.peak, this.#open);
    return this.#accepted(task, task.modal === undefined ? 1 : (this.#options.modalCode ?? 21));
  }

  #accepted(task: FakeTask, code: 1 | 21): Reply {
    return withId(
      this.#options.bareIds === true,
      'result',
      task.id,
      code === 1
        ? { code, description: 'Submit success', properties: {} }
        : {
            code,
            description: 'Waiting for window confirm',
            properties: { finalPrompt: task.prompt, remix: true },
          },
    );
  }

  #add(begun: Begun & { readonly tag: string }): FakeTask {
    const number = this.tasks.size + 1;
    const task: FakeTask = {
      ...begun,
      id: this.#options.id?.(number) ?? String(1_700_000_000_000_000 + number),
      number,
      script: {},
      buttons: [],
      generation: 0,
      polls: 0,
      ended: false,
      succeeded: false,
      released: false,
      link: 1,
      downloads: 0,
    };
    task.buttons = this.#buttonsOf(task);
    this.tasks.set(task.id, task);
    return task;
  }

  /** Asks the test how the task is to go. */
  #script(task: FakeTask): void {
    const script = this.#options.script?.(task);
    if (script !== undefined) Object.assign(task, { script, buttons: script.buttons ?? task.buttons });
  }

  #buttonsOf({ pressed, number, generation, films, kind }: FakeTask): FakeButton[] {
    const { manualAnimation: manual = false } = this.#options;
    const makes = { films, describes: kind === 'describe', manual };
    return buttonsAfter(pressed, number, this.#words.prefix, generation, makes);
  }

  #fetch(id: string): Reply {
    const task = this.tasks.get(id);
    if (task === undefined)
      return json({ description: 'task_no_found ', type: 'upstream_error', code: 4 }, 400);
    return withId(this.#options.bareIds === true, 'id', id, this.#poll(task));
  }

  /** gateway 4.1: in no order, without what is not known. */
  #list(ids: readonly string[]): Reply {
    const found = [...new Set(ids)].flatMap((id) => this.tasks.get(id) ?? []).reverse();
    const records = found.map((task) =>
      withId(this.#options.bareIds === true, 'id', task.id, this.#poll(task)).body.toString(),
    );
    return { ...json([]), body: Buffer.from(`[${records.join(',')}]`) };
  }

  #poll(task: FakeTask): Record<string, unknown> {
    const work = task.modal === undefined ? task : task.modal.result;
    if (work === undefined) {
      task.polls += 1;
      // A script may fail it while it waits.
      const { status } = task.script;
      return this.#shown(task, status === undefined ? waiting : { status, done: true });
    }
    const moment = this.#advance(work);
    const lingers = task.modal !== undefined && this.#options.modalLingers === true && !moment.done;
    return this.#shown(work, lingers ? waiting : moment);
  }

  #shown(task: FakeTask, moment: FakeMoment): Record<string, unknown> {
    const { buttons, ...record } = recordOf(task, moment, this.origin);
    if (this.#options.buttonless !== true) return { buttons, ...record };
    // The names of the oldest proxy of the family.
    const action = /upsample/.test(task.pressed?.customId ?? '') ? 'UPSCALE' : 'VARIATION';
    return { ...record, ...(task.pressed === undefined ? {} : { action }) };
  }

  #advance(task: FakeTask): FakeMoment {
    const { script } = task;
    task.polls += 1;
    const done = task.released || task.polls > (script.polls ?? this.#options.polls ?? 1);
    const status = done ? (script.status ?? 'SUCCESS') : 'IN_PROGRESS';
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
    return { status, done };
  }
}

/** What is known of a task when it begins, but for what every task begins with. */
type Begun = Pick<
  FakeTask,
  'speed' | 'prompt' | 'subject' | 'path' | 'films' | 'parent' | 'pressed' | 'modal'
> & {
  readonly kind: FakeSubmit['route'];
};

const waiting: FakeMoment = { status: 'MODAL', done: false };
