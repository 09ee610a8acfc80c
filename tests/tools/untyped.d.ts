// Packages without types, as far as tests call them.
declare module 'passport' {
  interface Answer {
    statusCode: number;
    setHeader(name: string, value: string): void;
    end(): void;
  }
  type Done = (error: Error | null, user?: unknown, info?: { readonly message?: string }) => void;
  export class Passport {
    authenticate(
      strategy: import('passport-openidconnect').Strategy,
      callback: Done,
    ): (request: object, answer: Answer, next: (error: Error) => void) => void;
  }
}

declare module 'passport-openidconnect' {
  export class Strategy {
    constructor(
      options: Readonly<Record<string, unknown>>,
      verify: (
        issuer: string,
        profile: { readonly id: string; readonly emails?: readonly { readonly value: string }[] },
        done: (error: null, user: unknown) => void,
      ) => void,
    );
  }
}

declare module '@digitalbazaar/did-io' {
  export class CachedResolver {
    use(driver: object): void;
    get(asked: { readonly did: string }): Promise<Readonly<Record<string, unknown>>>;
  }
}

declare module '@digitalbazaar/did-method-web' {
  export function driver(): object;
}
