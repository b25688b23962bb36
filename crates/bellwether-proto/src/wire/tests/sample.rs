//! Messages of any type, made up: what a decoder would have read had every number been the same.

use serde::de::value::Error;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, EnumAccess, SeqAccess, VariantAccess, Visitor};
use serde::forward_to_deserialize_any;

/// The message with every number `n`: the first of those that the type has, and so on, round and round.
pub(super) fn sample<'de, M: Deserialize<'de>>(which: u64, n: u64) -> M {
    M::deserialize(&mut Sample { which: Some(which), n })
        .expect("messages are made of numbers, lists and choices")
}

struct Sample {
    /// Which message, until that is settled. What is chosen within one goes by `n`.
    which: Option<u64>,
    n: u64,
}

impl Sample {
    fn yes(&self) -> bool {
        self.n.is_multiple_of(2)
    }
}

impl<'de> Deserializer<'de> for &mut Sample {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(serde::de::Error::custom("a type that no message has"))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_bool(self.yes())
    }

    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_u8(self.n as u8)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_u32(self.n as u32)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_u64(self.n)
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_u128(u128::from(self.n) << 60)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.yes() { visitor.visit_some(self) } else { visitor.visit_none() }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let left = (self.n % 5) as usize;
        visitor.visit_seq(Items { of: self, left })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, left: usize, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(Items { of: self, left })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_tuple(fields.len(), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let which = self.which.take().unwrap_or(self.n) % variants.len() as u64;
        visitor.visit_enum(Chosen { which: which as u32, of: self })
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u16 f32 f64 char str string bytes byte_buf unit unit_struct tuple_struct map identifier
        ignored_any
    }
}

struct Items<'s> {
    of: &'s mut Sample,
    left: usize,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        seed.deserialize(&mut *self.of).map(Some)
    }
}

struct Chosen<'s> {
    which: u32,
    of: &'s mut Sample,
}

impl<'de, 's> EnumAccess<'de> for Chosen<'s> {
    type Error = Error;
    type Variant = &'s mut Sample;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, &'s mut Sample), Error> {
        use serde::de::IntoDeserializer;
        let chosen = seed.deserialize(IntoDeserializer::<Error>::into_deserializer(self.which))?;
        Ok((chosen, self.of))
    }
}

impl<'de> VariantAccess<'de> for &mut Sample {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_tuple(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_tuple(fields.len(), visitor)
    }
}
