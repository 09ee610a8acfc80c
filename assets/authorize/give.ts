// Which addresses an app gets: the person picks, adds one, or goes on without.
import { press } from '../wallet/view.ts';
import { inLanguages, spoken, word } from '../words/words.ts';
import type { Choice, Picked } from './api.ts';
import { type Address, addressOf } from './screens.ts';
import { beginIn, element, fault, field, onPress, onSubmit, say, show } from './view.ts';

type Channel = 'email' | 'sms';

/** The content of the screen. */
export interface GiveOptions {
  readonly app: string;
  readonly choice: Choice;
  /** The channels by which an address can be added here. */
  readonly channels: readonly Channel[];
  /** The addresses picked so far. */
  readonly picked: Picked;
}

/** The addresses for the app, or the channel of which an address is added first. */
export type Given = { readonly picked: Picked; readonly add?: Channel };

/** Asks which address of each channel the app gets. The oldest one is picked until the person picks another. */
export function askGive({ app, choice, channels, picked }: GiveOptions): Promise<Given> {
  say({ 'give-title': 'give.title', 'give-go': 'start.title' }, { app });
  return new Promise((resolve) => {
    const chosen = () => Object.fromEntries(choice.channels.map((channel) => [channel, pickedIn(channel)]));
    const parts = choice.channels.map((channel) => {
      const [held, waiting] = ofChannel(choice, channel);
      const add = () => resolve({ picked: chosen(), add: channel });
      return [
        ...(held.length > 0 ? [radios(channel, held, picked[channel])] : [missing(app, channel)]),
        ...waiting,
        ...(held.length === 0 && channels.includes(channel) ? [addButton(channel, add)] : []),
      ];
    });
    element('give-channels').replaceChildren(...parts.flat());
    show('give');
    onPress('give-go', () => resolve({ picked: chosen() }));
  });
}

/** The addresses that the app may get, and a word on each that waits. */
function ofChannel({ addresses }: Choice, channel: Channel): readonly [readonly string[], readonly HTMLElement[]] {
  const own = addresses.filter((one) => one.channel === channel);
  const held = own.filter(({ moves_at }) => moves_at === null).map(({ identifier }) => identifier);
  const format = new Intl.DateTimeFormat(spoken(), { dateStyle: 'full', timeStyle: 'short' });
  const waiting = own.flatMap(({ identifier: address, moves_at }) =>
    moves_at === null ? [] : [textOf(word('give.waits', { address, time: format.format(new Date(moves_at)) }))],
  );
  return [held, waiting];
}

function radios(channel: Channel, held: readonly string[], picked: string | null | undefined): HTMLElement {
  const group = document.createElement('fieldset');
  const legend = document.createElement('legend');
  legend.append(...inLanguages(word(channel === 'sms' ? 'start.phone' : 'start.email')));
  const isHeld = picked === null || (picked !== undefined && held.includes(picked));
  const chosen = isHeld ? (picked ?? '') : held[0];
  const choices = [...held, ''].map((value) => {
    const [label, input] = [document.createElement('label'), document.createElement('input')];
    label.className = 'choice';
    Object.assign(input, { type: 'radio', name: nameOf(channel), value, defaultChecked: value === chosen });
    const name = document.createElement('span');
    // An address is the same in every language, and runs from left to right.
    if (value === '') name.append(...inLanguages(word(`give.not_${channel}`)));
    else Object.assign(name, { dir: 'ltr', textContent: value });
    label.append(input, name);
    return label;
  });
  group.append(legend, ...choices);
  return group;
}

const nameOf = (channel: Channel) => `give-${channel}`;

function pickedIn(channel: Channel): string | null {
  return document.querySelector<HTMLInputElement>(`[name=${nameOf(channel)}]:checked`)?.value || null;
}

function missing(app: string, channel: Channel): HTMLElement {
  return textOf(word(`give.none_${channel}`, { app }));
}

function addButton(channel: Channel, act: () => void): HTMLElement {
  const button = document.createElement('button');
  Object.assign(button, { type: 'button', id: `give-add-${channel}` });
  button.append(...inLanguages(word(`give.add_${channel}`)));
  press(button, act);
  return button;
}

function textOf(text: string): HTMLElement {
  const paragraph = document.createElement('p');
  paragraph.append(...inLanguages(text));
  return paragraph;
}

/** Asks for an address to add; undefined where the person goes back. */
export function askMore(channel: Channel, wrong?: string): Promise<Address | undefined> {
  const kind = channel === 'sms' ? 'phone' : 'email';
  say({
    'add-title': `give.add_${channel}`,
    'add-label': `start.${kind}`,
    'add-go': 'start.go',
    'add-back': 'give.back',
  });
  const input = field('add-address');
  input.type = input.inputMode = input.autocomplete = channel === 'sms' ? 'tel' : 'email';
  show('add');
  beginIn('add-address');
  fault('add-address', wrong);
  return new Promise((resolve) => {
    onPress('add-back', () => resolve(undefined));
    onSubmit('add-form', () => {
      const address = addressOf(input.value.trim(), [channel]);
      fault('add-address', address ? undefined : word(`start.fault_${kind}`));
      if (address) resolve(address);
    });
  });
}
