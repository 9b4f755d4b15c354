//! The rules of admission behind the signature's, each with its name and its meaning: the one list of them.
//!
//! Invariant: a code is in kebab-case, unique, and never changes its meaning. (`not-a-component` is a rule of signatures too,
//! with the same meaning.)

/// A rule that a component must keep to be admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// It is a component in the binary format: no text, no core module, no machine code.
    NotAComponent,
    /// Its bytes keep the format.
    MalformedComponent,
    /// It is not larger than components may be.
    ComponentTooLarge,
    /// What it is made of stays within the limits of the scan: nesting, functions, locals, memories, custom sections, ….
    StructureLimit,
    /// It imports only what is granted.
    ImportNotGranted,
    /// What it imports has the contract's types.
    ImportWrongType,
    /// It exports a hook of a version of the contract that this host speaks.
    NoHook,
    /// The compiler takes it: no feature is used that is off, and it survives it.
    CompileFailed,
    /// Compiling it stays within the limits on memory, time and output.
    CompileLimit,
    /// It fits into one instance: memories, tables, core instances.
    ResourceLimit,
    /// It can be instantiated, and its hooks have the contract's types.
    NotInstantiable,
    /// Its start functions end, within the fuel of `open`.
    StartFailed,
    /// `open` answers, be it with a fault: it does not trap and stays within its fuel.
    OpenFailed,
    /// It stays within the tenant's memory.
    MemoryLimit,
    /// One row costs less than the fuel of a call.
    WarmUpTooDear,
    /// Answers keep the contract.
    AnswerMalformed,
}

impl Rule {
    /// All rules, in the order in which they are checked.
    pub const ALL: [Self; 16] = [
        Self::NotAComponent,
        Self::MalformedComponent,
        Self::ComponentTooLarge,
        Self::StructureLimit,
        Self::ImportNotGranted,
        Self::ImportWrongType,
        Self::NoHook,
        Self::CompileFailed,
        Self::CompileLimit,
        Self::ResourceLimit,
        Self::NotInstantiable,
        Self::StartFailed,
        Self::OpenFailed,
        Self::MemoryLimit,
        Self::WarmUpTooDear,
        Self::AnswerMalformed,
    ];

    /// The rule's name, as refusals, logs and documents have it.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotAComponent => "not-a-component",
            Self::MalformedComponent => "malformed-component",
            Self::ComponentTooLarge => "component-too-large",
            Self::StructureLimit => "structure-limit",
            Self::ImportNotGranted => "import-not-granted",
            Self::ImportWrongType => "import-wrong-type",
            Self::NoHook => "no-hook",
            Self::CompileFailed => "compile-failed",
            Self::CompileLimit => "compile-limit",
            Self::ResourceLimit => "resource-limit",
            Self::NotInstantiable => "not-instantiable",
            Self::StartFailed => "start-failed",
            Self::OpenFailed => "open-failed",
            Self::MemoryLimit => "memory-limit",
            Self::WarmUpTooDear => "warm-up-too-dear",
            Self::AnswerMalformed => "answer-malformed",
        }
    }

    /// The rule of this name.
    #[must_use]
    pub fn of_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.code() == code)
    }
}
