import type { Place, View } from './shell.ts';

type Refresh = () => Promise<void>;

/** A panel that reads its part of the address when its view is opened. */
interface Opens {
  readonly open: (place: Place) => void;
}

/** The panels that read their view's content, when it is opened or while it is. */
export interface Panels {
  readonly charts: Pick<View, 'open'> & { readonly refresh: Refresh };
  readonly registrations: Opens;
  readonly sessions: Opens;
  readonly invites: Pick<View, 'open' | 'refresh'>;
  readonly apps: Pick<View, 'open' | 'refresh'>;
  readonly refusals: Pick<View, 'open' | 'refresh'>;
  readonly settings: Pick<View, 'open' | 'refresh'>;
  readonly tokens: Pick<View, 'open' | 'refresh'>;
  readonly operators: Pick<View, 'open' | 'refresh'>;
  readonly limits: Refresh;
  readonly recoveries: Refresh;
  readonly webhooks: Refresh;
  readonly messages: Refresh;
  readonly doctor: NonNullable<View['open']>;
}

/**
 * Every view, in the order of the rail; on a phone the first four stand in the bar. To add one, add an entry: the shell
 * makes its name in the rail, its title and its place, and the tests walk it.
 */
export function createViews(panels: Panels): readonly View[] {
  return [
    {
      name: 'overview',
      title: 'Overview',
      icon: ICONS.chart,
      isQuick: true,
      ...(panels.charts.open ? { open: panels.charts.open } : {}),
      refresh: panels.charts.refresh,
    },
    { name: 'health', title: 'Health', icon: ICONS.pulse },
    { name: 'events', title: 'Events', icon: ICONS.list },
    { name: 'registrations', title: 'Registrations', icon: ICONS.person, open: panels.registrations.open },
    { name: 'sessions', title: 'Sessions', icon: ICONS.clock, open: panels.sessions.open },
    { name: 'invites', title: 'Invites', icon: ICONS.plus, ...panels.invites },
    { name: 'apps', title: 'Apps', icon: ICONS.door, ...panels.apps },
    { name: 'recoveries', title: 'Recoveries', icon: ICONS.ring, refresh: panels.recoveries },
    { name: 'limits', title: 'Limits', icon: ICONS.gauge, isQuick: true, refresh: panels.limits },
    { name: 'refusals', title: 'Refusals', icon: ICONS.stop, ...panels.refusals },
    { name: 'webhooks', title: 'Webhooks', icon: ICONS.send, whose: 'for-operators', refresh: panels.webhooks },
    { name: 'tokens', title: 'Keys & tokens', icon: ICONS.key, ...panels.tokens },
    { name: 'operators', title: 'Operators', icon: ICONS.people, whose: 'for-root', ...panels.operators },
    { name: 'messages', title: 'Messages', icon: ICONS.mail, refresh: panels.messages },
    { name: 'settings', title: 'Settings', icon: ICONS.sliders, ...panels.settings },
    { name: 'doctor', title: 'Doctor', icon: ICONS.tick, open: panels.doctor },
  ];
}

/** Drawings of 24 by 24 units, as lines. */
const ICONS = {
  door: 'M9 4h11v16H9M3 12h11M10 8l4 4-4 4',
  plus: 'M3 7h18v10H3zM12 10v4M10 12h4',
  stop: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M6 6l12 12',
  sliders: 'M4 7h9M17 7h3M15 5v4M4 17h3M11 17h9M9 15v4',
  tick: 'M4 5h16v14H4zM8 12l3 3 5-6',
  chart: 'M4 20V10M10 20V4M16 20v-7M21 20H3',
  pulse: 'M3 12h4l3 7 4-14 3 7h4',
  list: 'M4 6h16M4 12h16M4 18h10',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8M4 21c0-4 4-6 8-6s8 2 8 6',
  people: 'M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8M2 21c0-4 3-6 7-6s7 2 7 6M16 4a4 4 0 0 1 0 7M18 15c3 1 4 3 4 6',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M12 7v5l3 3',
  ring: 'M4 12a8 8 0 1 1 3 6M4 20v-4h4',
  gauge: 'M4 18a9 9 0 1 1 16 0M12 14l4-5',
  send: 'M4 12h13M12 6l6 6-6 6',
  key: 'M8 17a4 4 0 1 1 0-8 4 4 0 0 1 0 8M12 13h9v3M17 13v3',
  mail: 'M3 6h18v12H3zM3 7l9 7 9-7',
} as const;
